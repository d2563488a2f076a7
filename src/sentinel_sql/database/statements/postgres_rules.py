"""What a PostgreSQL statement may hold: kinds of nodes, functions, tables of the server, types."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Final

from sqlglot import exp

from sentinel_sql.database.statements.rules import QUERY_NODES, Rules, name_of, node_kinds


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_FUNCTIONS: Mapping[str, str] = {
    "aggregates": "any_value array_agg avg bit_and bit_or bit_xor bool_and bool_or corr count "
    "covar_pop covar_samp every json_agg json_object_agg jsonb_agg jsonb_object_agg max min mode "
    "percentile_cont percentile_disc range_agg range_intersect_agg regr_avgx regr_avgy regr_count "
    "regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy stddev stddev_pop stddev_samp "
    "string_agg sum var_pop var_samp variance xmlagg",
    "windows and grouping": "cume_dist dense_rank first_value grouping lag last_value lead "
    "nth_value ntile percent_rank rank row_number",
    "choice and type": "coalesce greatest least nullif num_nonnulls num_nulls pg_typeof row",
    "text": "ascii bit_length btrim char_length character_length chr concat concat_ws convert "
    "convert_from convert_to decode encode format initcap is_normalized left length lower lpad "
    "ltrim md5 normalize octet_length overlay parse_ident position quote_ident quote_literal "
    "quote_nullable regexp_count regexp_instr regexp_like regexp_match regexp_matches "
    "regexp_replace regexp_split_to_array regexp_split_to_table regexp_substr repeat replace "
    "reverse right rpad rtrim sha224 sha256 sha384 sha512 split_part starts_with string_to_array "
    "string_to_table strpos substr substring text to_ascii to_hex translate trim unistr upper "
    "bpchar varchar name get_bit get_byte set_bit set_byte bit_count",
    "likeness (pg_trgm, fuzzystrmatch, unaccent)": "difference dmetaphone dmetaphone_alt "
    "levenshtein levenshtein_less_equal metaphone show_trgm similarity soundex "
    "strict_word_similarity unaccent word_similarity",
    "numbers": "abs acos acosd acosh asin asind asinh atan atan2 atan2d atand atanh cbrt ceil "
    "ceiling cos cosd cosh cot cotd degrees div exp factorial float4 float8 floor gcd int2 int4 "
    "int8 lcm ln log log10 min_scale mod numeric pi pow power radians random round scale sign sin "
    "sind sinh sqrt tan tand tanh trim_scale trunc width_bucket",
    "time": "age clock_timestamp current_date current_time current_timestamp date date_add "
    "date_bin date_part date_subtract date_trunc extract interval isfinite justify_days "
    "justify_hours justify_interval localtime localtimestamp make_date make_interval make_time "
    "make_timestamp make_timestamptz now overlaps statement_timestamp time timeofday timestamp "
    "timestamptz timetz timezone to_char to_date to_number to_timestamp transaction_timestamp",
    "JSON": "array_to_json json json_array json_array_elements json_array_elements_text "
    "json_array_length json_build_array json_build_object json_each json_each_text json_exists "
    "json_extract_path json_extract_path_text json_object json_object_keys json_populate_record "
    "json_populate_recordset json_query json_scalar json_serialize json_strip_nulls json_table "
    "json_to_record json_to_recordset json_typeof json_value jsonb jsonb_array_elements "
    "jsonb_array_elements_text jsonb_array_length jsonb_build_array jsonb_build_object jsonb_each "
    "jsonb_each_text jsonb_exists jsonb_exists_all jsonb_exists_any jsonb_extract_path "
    "jsonb_extract_path_text jsonb_insert jsonb_object jsonb_object_keys jsonb_path_exists "
    "jsonb_path_exists_tz jsonb_path_match jsonb_path_match_tz jsonb_path_query "
    "jsonb_path_query_array jsonb_path_query_array_tz jsonb_path_query_first "
    "jsonb_path_query_first_tz jsonb_path_query_tz jsonb_populate_record jsonb_populate_recordset "
    "jsonb_pretty jsonb_set jsonb_set_lax jsonb_strip_nulls jsonb_to_record jsonb_to_recordset "
    "jsonb_typeof row_to_json to_json to_jsonb",
    "arrays and ranges": "array array_append array_cat array_dims array_fill array_length "
    "array_lower array_ndims array_position array_positions array_prepend array_remove "
    "array_replace array_sample array_shuffle array_to_string array_upper cardinality daterange "
    "datemultirange enum_first enum_last enum_range generate_series generate_subscripts int4range "
    "int4multirange int8range int8multirange isempty lower_inc lower_inf multirange nummultirange "
    "numrange range_merge trim_array tsmultirange tsrange tstzmultirange tstzrange unnest "
    "upper_inc upper_inf",
    "full-text search": "numnode phraseto_tsquery plainto_tsquery querytree setweight strip "
    "to_tsquery to_tsvector ts_delete ts_filter ts_headline ts_rank ts_rank_cd tsquery_phrase "
    "tsvector_to_array websearch_to_tsquery",
    "places and addresses": "area box center circle diameter height host hostmask lseg masklen "
    "netmask network path point polygon radius width",
    "XML": "xmlexists xml_is_well_formed xpath xpath_exists",
    "the schema": "col_description current_database current_schema current_schemas current_user "
    "format_type obj_description pg_get_constraintdef pg_get_expr pg_get_indexdef pg_get_viewdef "
    "session_user",
    "identifiers": "gen_random_uuid uuid",
}
ALLOWED_FUNCTIONS: Final[Set[str]] = frozenset(
    name for names in _FUNCTIONS.values() for name in names.split()
)
"""Functions that only compute from their arguments and the schema's description.

Left out on purpose are functions that change a session or the server (`set_config`, `setseed`,
`nextval`, `pg_advisory_lock`, `pg_notify`, `pg_terminate_backend`), that wait (`pg_sleep`), that
touch files or large objects (`pg_read_file`, `lo_get`), that run SQL given as a text
(`query_to_xml`, `ts_stat`, `ts_rewrite`, `crosstab`, `dblink`), and that describe the server or
other sessions (`version`, `current_setting`, `inet_server_addr`, `pg_stat_get_activity`)."""

SERVER_TABLES: Final[Set[str]] = _words(
    "pg_attrdef pg_attribute pg_class pg_collation pg_constraint pg_description pg_enum pg_index "
    "pg_indexes pg_inherits pg_matviews pg_namespace pg_range pg_sequences pg_tables pg_type "
    "pg_views"
)
"""Tables of `pg_catalog` that describe the schema, and may be read. The others tell of roles, other
sessions, statistics with values of columns, and settings."""

_OBJECT_TYPES: Final[Set[str]] = frozenset(
    f"reg{kind}"
    for kind in _words(
        "class collation config dictionary namespace oper operator proc procedure role type"
    )
)

_CALLS_WITHOUT_NAMES = """
    Array ArrayContainsAll ArrayContainedBy ArrayOverlaps ArrayContains Concat CurrentCatalog
    CurrentDate CurrentRole CurrentSchema CurrentTime CurrentTimestamp CurrentUser GroupConcat
    JSONArray JSONArrayAgg JSONBContains JSONBContainsAllTopKeys JSONBContainsAnyTopKeys
    JSONBContainsTopKey JSONBDeleteAtPath JSONBExists JSONBExtract JSONBExtractScalar JSONBObjectAgg
    JSONBPathExists JSONExtract JSONExtractScalar JSONKeyValue JSONObject JSONObjectAgg JSONCast
    JSONTable JSONSchema JSONColumnDef JSONValue FormatJson JSON OnCondition
    Localtime Localtimestamp MatchAgainst Normalize Overlay
    SessionUser StrPosition Substring Trim Variadic Distance Adjacent ExtendsLeft ExtendsRight
    StartsWith TsOrDsToDate TsOrDsToTimestamp
"""


def _table_refusal(node: exp.Expr) -> str | None:
    schema, table = name_of(node.args.get("db")), name_of(node.this)
    if schema not in ("", "pg_catalog"):
        hidden = schema.startswith(("pg_toast", "pg_temp"))
        return f"schema {schema} may not be read" if hidden else None
    if (schema or table.startswith("pg_")) and table and table not in SERVER_TABLES:
        return f"table {table} may not be read"
    return None


def _type_refusal(node: exp.Expr) -> str | None:
    if node.this is not exp.DType.USERDEFINED:
        return None  # sqlglot has a kind of node of its own for most types of objects
    written = node.sql(dialect="postgres").lower().replace('"', "").rpartition(".")[2]
    kind = written.removesuffix("[]")
    return f"type {kind} may not be used" if kind in _OBJECT_TYPES else None


POSTGRES_RULES: Final = Rules(
    nodes=QUERY_NODES | node_kinds(_CALLS_WITHOUT_NAMES),
    functions=ALLOWED_FUNCTIONS,
    function_schemas=frozenset({"pg_catalog"}),
    checks={exp.Table: _table_refusal, exp.DataType: _type_refusal},
)
