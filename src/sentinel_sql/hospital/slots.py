"""The values for the slots of a template: queries over the hospital, and fixed lists."""

# ruff: noqa: E501

from __future__ import annotations

from sentinel_sql.hospital.catalog import SPOKEN


def _pair(slot: str, table: str, dictionary: str, key: str, label: str) -> str:
    return (
        f"SELECT DISTINCT e.subject_id AS patient, d.{label} AS {slot} FROM {table} AS e "  # noqa: S608
        f"JOIN {dictionary} AS d ON d.{key} = e.{key} ORDER BY 1, 2"
    )


def _label(slot: str, table: str, dictionary: str, key: str, label: str) -> str:
    return (
        f"SELECT d.{label} AS {slot} FROM {table} AS e JOIN {dictionary} AS d "  # noqa: S608
        f"ON d.{key} = e.{key} GROUP BY 1 HAVING COUNT(DISTINCT e.subject_id) >= 3 ORDER BY 1"
    )


def _stay(slot: str, table: str) -> str:
    return (
        f"SELECT DISTINCT e.stay_id AS stay, d.label AS {slot} FROM {table} AS e "  # noqa: S608
        "JOIN d_items AS d ON d.itemid = e.itemid ORDER BY 1, 2"
    )


def _column(slot: str, table: str, column: str) -> str:
    return f"SELECT DISTINCT {column} AS {slot} FROM {table} WHERE {column} IS NOT NULL ORDER BY 1"  # noqa: S608


def _choices(slot: str, *values: int | str) -> str:
    return " UNION ALL ".join(f"SELECT {value!r} AS {slot}" for value in values)


_DIAGNOSIS = ("diagnoses_icd", "d_icd_diagnoses", "icd_code", "long_title")
_PROCEDURE = ("procedures_icd", "d_icd_procedures", "icd_code", "long_title")
_LAB = ("labevents", "d_labitems", "itemid", "label")
_VITAL = ("chartevents", "d_items", "itemid", "label")
_INTAKE = ("inputevents", "d_items", "itemid", "label")
_OUTPUT = ("outputevents", "d_items", "itemid", "label")

SLOTS = {
    "patient": _column("patient", "patients", "subject_id"),
    "hadm": _column("hadm", "admissions", "hadm_id"),
    "stay": _column("stay", "icustays", "stay_id"),
    "returning": "SELECT subject_id AS patient FROM admissions GROUP BY 1 HAVING COUNT(*) > 1 ORDER BY 1",
    "discharged": "SELECT DISTINCT subject_id AS patient FROM admissions WHERE dischtime IS NOT NULL ORDER BY 1",
    "closed_hadm": "SELECT hadm_id AS hadm FROM admissions WHERE dischtime IS NOT NULL ORDER BY 1",
    "dead": "SELECT subject_id AS patient FROM patients WHERE dod IS NOT NULL ORDER BY 1",
    "present": "SELECT subject_id AS patient FROM admissions WHERE dischtime IS NULL ORDER BY 1",
    "icu_patient": _column("patient", "icustays", "subject_id"),
    "icu_hadm": _column("hadm", "icustays", "hadm_id"),
    "closed_stay": "SELECT stay_id AS stay FROM icustays WHERE outtime IS NOT NULL ORDER BY 1",
    "gender": _column("gender", "patients", "gender"),
    "insurance": _column("insurance", "admissions", "insurance"),
    "language": _column("language", "admissions", "language"),
    "marital": _column("marital", "admissions", "marital_status"),
    "type": _column("type", "admissions", "admission_type"),
    "origin": _column("origin", "admissions", "admission_location"),
    "destination": "SELECT DISTINCT discharge_location AS destination FROM admissions "
    "WHERE discharge_location NOT IN ('died', 'against advice') ORDER BY 1",
    "icu": _column("icu", "icustays", "first_careunit"),
    "ward": "SELECT DISTINCT careunit AS ward FROM transfers WHERE careunit NOT LIKE '%icu%' "
    "AND careunit NOT LIKE '%ccu%' AND careunit <> 'emergency department' ORDER BY 1",
    "diagnosis": _label("diagnosis", *_DIAGNOSIS),
    "procedure": _label("procedure", *_PROCEDURE),
    "lab": _label("lab", *_LAB),
    "vital": _label("vital", *_VITAL),
    "intake": _label("intake", *_INTAKE),
    "output": _label("output", *_OUTPUT),
    "drug": "SELECT drug FROM prescriptions GROUP BY 1 HAVING COUNT(DISTINCT subject_id) >= 3 ORDER BY 1",
    "specimen": _column("specimen", "microbiologyevents", "spec_type_desc"),
    "organism": _column("organism", "microbiologyevents", "org_name"),
    "route": _column("route", "prescriptions", "route"),
    "charge": _column("charge", "cost", "event_type"),
    "patient_diagnosis": _pair("diagnosis", *_DIAGNOSIS),
    "patient_procedure": _pair("procedure", *_PROCEDURE),
    "patient_lab": _pair("lab", *_LAB),
    "patient_vital": _pair("vital", *_VITAL),
    "patient_intake": _pair("intake", *_INTAKE),
    "patient_output": _pair("output", *_OUTPUT),
    "stay_vital": _stay("vital", "chartevents"),
    "stay_intake": _stay("intake", "inputevents"),
    "stay_output": _stay("output", "outputevents"),
    "patient_drug": "SELECT DISTINCT subject_id AS patient, drug FROM prescriptions ORDER BY 1, 2",
    "patient_route": "SELECT DISTINCT subject_id AS patient, route FROM prescriptions ORDER BY 1, 2",
    "hadm_drug": "SELECT DISTINCT hadm_id AS hadm, drug FROM prescriptions ORDER BY 1, 2",
    "hadm_lab": "SELECT e.hadm_id AS hadm, d.label AS lab FROM labevents AS e JOIN d_labitems AS d "
    "ON d.itemid = e.itemid WHERE e.valuenum IS NOT NULL GROUP BY 1, 2 HAVING COUNT(*) > 2 ORDER BY 1, 2",
    "patient_specimen": "SELECT DISTINCT subject_id AS patient, spec_type_desc AS specimen "
    "FROM microbiologyevents ORDER BY 1, 2",
    "grown_specimen": "SELECT DISTINCT subject_id AS patient, spec_type_desc AS specimen "
    "FROM microbiologyevents WHERE org_name IS NOT NULL ORDER BY 1, 2",
    "patient_ward": "SELECT DISTINCT subject_id AS patient, careunit AS ward FROM transfers "
    "WHERE careunit IS NOT NULL AND eventtype <> 'ed' ORDER BY 1, 2",
    # a whole-number threshold that some results pass and some don't
    "lab_above": "SELECT d.label AS lab, CAST(ROUND(AVG(e.valuenum) * 1.25) AS INTEGER) AS threshold "
    "FROM labevents AS e JOIN d_labitems AS d ON d.itemid = e.itemid "
    "GROUP BY 1 HAVING AVG(e.valuenum) > 3 ORDER BY 1",
    "vital_above": "SELECT d.label AS vital, CAST(ROUND(AVG(e.valuenum) * 1.12) AS INTEGER) AS threshold "
    "FROM chartevents AS e JOIN d_items AS d ON d.itemid = e.itemid "
    "WHERE e.valueuom IN ('bpm', 'insp/min', 'mmhg', 'mg/dl', 'ml') GROUP BY 1 ORDER BY 1",
    "diagnosis_code": "SELECT icd_code AS code, long_title AS diagnosis FROM d_icd_diagnoses ORDER BY 1",
    "procedure_code": "SELECT icd_code AS code, long_title AS procedure FROM d_icd_procedures ORDER BY 1",
    "lab_item": "SELECT itemid AS item, label AS lab FROM d_labitems ORDER BY 1",
    "chart_item": "SELECT itemid AS item, label AS vital FROM d_items WHERE linksto = 'chartevents' ORDER BY 1",
    "intake_item": "SELECT itemid AS item, label AS intake FROM d_items WHERE linksto = 'inputevents' ORDER BY 1",
    "year": _choices("year", "2099", "2100"),
    "month": _choices("month", *(f"{y}-{m:02d}" for y in (2099, 2100) for m in range(1, 13))),
    "age": _choices("age", 40, 45, 50, 55, 60, 65, 70, 75, 80),
    "birth_year": _choices("birth_year", *(f"{year}" for year in range(2018, 2070, 4))),
    "k": _choices("k", 2, 3, 4, 5),
    "days": _choices("days", 2, 3, 4, 5, 7, 10),
    "window": _choices("window", 14, 30, 45, 60, 90),
    "times": _choices("times", 1, 2, 3),
    "title_word": _choices(
        "title_word", "fracture", "hemorrhage", "diabetes", "sepsis", "kidney", "heart", "liver",
        "infarction", "neoplasm",
    ),
    "procedure_word": _choices(
        "procedure_word", "insertion", "catheterization", "coronary", "infusion", "biopsy",
        "transfusion", "ventilation", "heart",
    ),
    "items_table": _choices("items_table", "chartevents", "inputevents", "outputevents"),
    # values that aren't in the data, by construction of the generator
    "absent_patient": _choices("patient", *range(19_500_017, 19_999_000, 17_393)),
    "absent_hadm": _choices("hadm", *range(29_500_017, 29_999_000, 17_393)),
    "absent_stay": _choices("stay", *range(39_500_017, 39_999_000, 17_393)),
    "past_year": _choices("past_year", *(f"{year}" for year in range(2086, 2099))),
    "next_year": _choices("next_year", "2101", "2102", "2103"),
    "next_month": _choices("next_month", *(f"2101-{m:02d}" for m in range(1, 13))),
}  # fmt: skip
"""By name: a query whose columns are slots and whose rows are possible values."""

_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_SPOKEN_HERE = {
    "month": {f"{y}-{m:02d}": f"{_MONTHS[m - 1]} {y}" for y in range(2086, 2104) for m in range(1, 13)},
    "charge": {
        "diagnoses_icd": "diagnosis", "procedures_icd": "procedure", "labevents": "lab test",
        "prescriptions": "prescription",
    },
    "type": {"emergency": "emergency", "same day surgery": "same-day surgery"},
}  # fmt: skip
_SPOKEN_HERE["next_month"] = _SPOKEN_HERE["month"]


def spoken(slot: str, value: object) -> str:
    """Return the words of a question for the stored value of a slot; `drug2` is like `drug`."""
    table = SPOKEN | _SPOKEN_HERE
    return str(table.get(slot.rstrip("0123456789"), {}).get(value, value))  # type: ignore[call-overload]
