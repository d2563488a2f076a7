"""What a DuckDB statement may hold: kinds of nodes, functions, tables of the engine."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Final

from sqlglot import exp

from sentinel_sql.database.statements.rules import QUERY_NODES, ROOTS, Rules, name_of, node_kinds

_FUNCTIONS: Mapping[str, str] = {
    "aggregates": "any_value approx_count_distinct approx_quantile approx_top_k arbitrary arg_max "
    "arg_max_null arg_max_nulls_last arg_min arg_min_null arg_min_nulls_last argmax argmin "
    "array_agg avg bit_and bit_or bit_xor bitstring_agg bool_and bool_or corr count count_if "
    "count_star countif covar_pop covar_samp entropy favg first fsum geomean geometric_mean "
    "group_concat histogram histogram_exact histogram_values json_group_array json_group_object "
    "json_group_structure kahan_sum kurtosis kurtosis_pop last list listagg mad max max_by mean "
    "median min min_by mode product quantile quantile_cont quantile_disc percentile_cont "
    "percentile_disc regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx "
    "regr_sxy regr_syy reservoir_quantile sem skewness stddev stddev_pop stddev_samp string_agg "
    "sum sumkahan var_pop var_samp variance wavg weighted_avg",
    "windows and grouping": "cume_dist dense_rank fill first_value grouping grouping_id lag "
    "last_value lead nth_value ntile percent_rank rank rank_dense row_number",
    "choice and type": "can_cast_implicitly coalesce columns constant_or_null greatest if ifnull "
    "least nullif pg_typeof row typeof",
    "text": "ascii bar base64 bit_length char_length character_length chr concat concat_ws "
    "contains damerau_levenshtein decode edit_dist3 editdist3 encode ends_with format format_bytes "
    "formatreadabledecimalsize formatreadablesize from_base64 from_binary from_hex hamming hash "
    "hex ilike_escape instr jaccard jaro_similarity jaro_winkler_similarity lcase left "
    "left_grapheme len length length_grapheme levenshtein like_escape lower lpad ltrim md5 "
    "md5_number mismatches nfc_normalize not_ilike_escape not_like_escape octet_length ord overlay "
    "parse_dirname parse_dirpath parse_filename parse_path position prefix printf regexp_escape "
    "regexp_extract regexp_extract_all regexp_full_match regexp_matches regexp_replace "
    "regexp_split_to_array regexp_split_to_table repeat replace reverse right right_grapheme rpad "
    "rtrim sha1 sha256 split split_part starts_with str_split str_split_regex string_split "
    "string_split_regex string_to_array strip_accents strlen strpos substr substring "
    "substring_grapheme suffix to_base to_base64 to_binary to_hex translate trim ucase unbin unhex "
    "unicode upper url_decode url_encode",
    "numbers": "abs acos acosh add asin asinh atan atan2 atanh bin bit_count bit_position "
    "bitstring cbrt ceil ceiling cos cosh cot degrees divide even exp factorial fdiv floor fmod "
    "gamma gcd get_bit greatest_common_divisor isfinite isinf isnan lcm least_common_multiple "
    "lgamma ln log log10 log2 mod multiply nextafter pi pow power radians random round round_even "
    "roundbankers set_bit sign signbit sin sinh sqrt subtract tan tanh trunc xor equi_width_bins",
    "time": "age century current_date current_localtime current_localtimestamp date date_add "
    "date_diff date_part date_sub date_trunc datediff datepart datesub datetrunc day dayname "
    "dayofmonth dayofweek dayofyear days_in_month decade epoch epoch_ms epoch_ns epoch_us era "
    "get_current_time get_current_timestamp hour isodow isoyear julian last_day make_date "
    "make_time make_timestamp make_timestamp_ms make_timestamp_ns make_timestamptz microsecond "
    "millennium millisecond minute month monthname nanosecond normalized_interval now quarter "
    "second strftime strptime time_bucket timezone timezone_hour timezone_minute to_centuries "
    "to_days to_decades to_hours to_microseconds to_millennia to_milliseconds to_minutes to_months "
    "to_quarters to_seconds to_timestamp to_weeks to_years today transaction_timestamp "
    "try_strptime week weekday weekofyear year yearweek extract",
    "JSON": "array_to_json from_json from_json_strict json json_array json_array_length "
    "json_contains json_each json_exists json_extract json_extract_path json_extract_path_text "
    "json_extract_string json_keys json_merge_patch json_normalize json_object json_pretty "
    "json_quote json_structure json_transform json_transform_strict json_tree json_type json_valid "
    "json_value row_to_json to_json",
    "lists": "aggregate apply array array_aggr array_aggregate array_append array_apply array_cat "
    "array_concat array_contains array_cosine_distance array_cosine_similarity "
    "array_cross_product array_distance array_distinct array_dot_product array_extract "
    "array_filter array_grade_up array_has array_has_all array_has_any array_indexof "
    "array_inner_product array_intersect array_length array_negative_dot_product "
    "array_negative_inner_product array_pop_back array_pop_front array_position array_prepend "
    "array_push_back array_push_front array_reduce array_resize array_reverse array_reverse_sort "
    "array_select array_slice array_sort array_to_string array_to_string_comma_default "
    "array_transform array_unique array_value array_where array_zip filter flatten "
    "generate_series generate_subscripts grade_up list_aggr list_aggregate list_any_value "
    "list_append list_apply list_approx_count_distinct list_avg list_bit_and list_bit_or "
    "list_bit_xor list_bool_and list_bool_or list_cat list_concat list_contains "
    "list_cosine_distance list_cosine_similarity list_count list_distance list_distinct "
    "list_dot_product list_element list_entropy list_extract list_filter list_first list_grade_up "
    "list_has list_has_all list_has_any list_histogram list_indexof list_inner_product "
    "list_intersect list_kurtosis list_kurtosis_pop list_last list_mad list_max list_median "
    "list_min list_mode list_negative_dot_product list_negative_inner_product list_pack "
    "list_position list_prepend list_product list_reduce list_resize list_reverse "
    "list_reverse_sort list_select list_sem list_skewness list_slice list_sort list_stddev_pop "
    "list_stddev_samp list_string_agg list_sum list_transform list_unique list_value list_var_pop "
    "list_var_samp list_where list_zip range reduce unnest unpivot_list",
    "structs, maps, enums, unions": "cardinality element_at enum_code enum_first enum_last "
    "enum_range enum_range_boundary map map_concat map_contains map_contains_entry "
    "map_contains_value map_entries map_extract map_extract_value map_from_entries map_keys "
    "map_values struct_concat struct_contains struct_extract struct_extract_at struct_has "
    "struct_indexof struct_insert struct_keys struct_pack struct_position struct_update "
    "struct_values union_extract union_tag union_value",
    "the schema": "col_description current_catalog current_database current_schema "
    "current_schemas current_user duckdb_columns duckdb_constraints duckdb_indexes duckdb_schemas "
    "duckdb_tables duckdb_views format_type obj_description pragma_table_info",
    "identifiers": "gen_random_uuid uuid uuidv4 uuid_extract_version",
}
ALLOWED_FUNCTIONS: Final[Set[str]] = frozenset(
    name for names in _FUNCTIONS.values() for name in names.split()
)
"""Functions that only compute from their arguments and the schema's description.

Left out on purpose are functions that read files (`read_csv`, `read_text`, `glob`, `sniff_csv`,
`parquet_metadata`), that run SQL given as a text (`query`, `query_table`,
`json_execute_serialized_sql`), that change or tell a session's state (`nextval`, `setseed`,
`getvariable`, `current_setting`, `duckdb_settings`, `duckdb_secrets`, `getenv`, `version`), that
wait (`sleep_ms`, `pg_sleep`), that write to the log (`write_log`), that ask for the machine's time
in a way that can't be replaced (`ago`, `uuidv7`, `txid_current`), and the engine's inner ones."""

ENGINE_TABLES: Final[Set[str]] = frozenset(
    [
        "duckdb_columns",
        "duckdb_constraints",
        "duckdb_indexes",
        "duckdb_schemas",
        "duckdb_tables",
        "duckdb_views",
        "pg_attribute",
        "pg_class",
        "pg_constraint",
        "pg_index",
        "pg_indexes",
        "pg_namespace",
        "pg_tables",
        "pg_type",
        "pg_views",
        "sqlite_master",
        "sqlite_schema",
    ]
)
"""Tables of the engine that describe the schema, and may be read. The others tell of files,
settings, secrets and other sessions."""

_ENGINE_PREFIXES: Final = ("duckdb_", "pragma_", "pg_", "sqlite_")
_ENGINE_SCHEMAS: Final[Set[str]] = frozenset({"pg_catalog", "system", "temp"})

_STATEMENTS: Final[Set[str]] = frozenset({"show", "summarize"})
"""Statements that DuckDB takes in parentheses after FROM, and sqlglot reads as a table's name."""

_SHOWN: Final[Set[str]] = frozenset({"TABLES", "ALL TABLES"})

_MORE_NODES: Final = """
    Describe Summarize Show Pivot UnpivotColumns PivotAlias Qualify Columns PositionalColumn
    Comprehension Struct ToMap Array List Explode TryCast Concat GroupConcat CurrentDate CurrentTime
    CurrentTimestamp CurrentCatalog CurrentSchema CurrentUser Localtime Localtimestamp JSONExtract
    JSONExtractScalar JSONExtractArray JSONObject JSON JSONCast JSONKeyValue StartsWith
    ArrayContainsAll ArrayContainedBy ArrayOverlaps ArrayContains Distance Substring Trim
    StrPosition Glob Overlay AnyValue ApproxQuantile ArgMax ArgMin Ceil Chr Floor Max Min
    PercentileCont PercentileDisc Quantile
"""
"""sqlglot gives some functions no name, only a kind, such as `MAX`."""


def _table_refusal(node: exp.Expr) -> str | None:
    table = name_of(node.this).lower()
    catalog, schema = (name_of(node.args.get(part)).lower() for part in ("catalog", "db"))
    if "temp" in (catalog, schema):
        return "temporary tables may not be read"
    if node.args.get("when") is not None:
        return "AT may not be used"
    if not isinstance(node.this, exp.Identifier):
        return None  # a function, which is looked up by its name
    if table in _STATEMENTS and not node.this.quoted:
        return f"{table.upper()} within a query"
    hidden = schema in _ENGINE_SCHEMAS or catalog == "system"
    if (hidden or table.startswith(_ENGINE_PREFIXES)) and table not in ENGINE_TABLES:
        return f"table {table} may not be read"
    return None


def _show_refusal(node: exp.Expr) -> str | None:
    shown = str(node.this).upper()
    return None if shown in _SHOWN else f"SHOW {shown} may not be used"


DUCKDB_RULES: Final = Rules(
    nodes=QUERY_NODES | node_kinds(_MORE_NODES),
    functions=ALLOWED_FUNCTIONS,
    roots=(*ROOTS, exp.Describe, exp.Summarize, exp.Show, exp.Pivot),
    checks={exp.Table: _table_refusal, exp.Show: _show_refusal},
)
