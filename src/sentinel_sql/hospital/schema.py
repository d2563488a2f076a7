"""The hospital's tables: the 17 MIMIC-IV tables that EHRSQL-2024 asks about, and its clock."""

from __future__ import annotations

DATABASE = "hospital"
"""The name of this database in questions and trajectories."""

CLOCK = "2100-12-31 23:59:00"
"""The database's own current time (as EHRSQL-2024 has it)."""

_COLUMNS = {
    "patients": """row_id INT, subject_id INT UNIQUE, gender VARCHAR(5), dob TIMESTAMP(0),
        dod TIMESTAMP(0)?""",
    "admissions": """row_id INT, subject_id INT > patients, hadm_id INT UNIQUE,
        admittime TIMESTAMP(0), dischtime TIMESTAMP(0)?, admission_type VARCHAR(50),
        admission_location VARCHAR(50), discharge_location VARCHAR(50)?, insurance VARCHAR(255),
        language VARCHAR(10)?, marital_status VARCHAR(50)?, age INT""",
    "d_icd_diagnoses": "row_id INT, icd_code VARCHAR(10) UNIQUE, long_title VARCHAR(255)",
    "d_icd_procedures": "row_id INT, icd_code VARCHAR(10) UNIQUE, long_title VARCHAR(255)",
    "d_labitems": "row_id INT, itemid INT UNIQUE, label VARCHAR(200)?",
    "d_items": """row_id INT, itemid INT UNIQUE, label VARCHAR(200), abbreviation VARCHAR(200),
        linksto VARCHAR(50)""",
    "diagnoses_icd": """row_id INT, subject_id INT, hadm_id INT > admissions,
        icd_code VARCHAR(10) > d_icd_diagnoses, charttime TIMESTAMP(0)""",
    "procedures_icd": """row_id INT, subject_id INT, hadm_id INT > admissions,
        icd_code VARCHAR(10) > d_icd_procedures, charttime TIMESTAMP(0)""",
    "labevents": """row_id INT, subject_id INT, hadm_id INT > admissions,
        itemid INT > d_labitems, charttime TIMESTAMP(0)?, valuenum DOUBLE PRECISION?,
        valueuom VARCHAR(20)?""",
    "prescriptions": """row_id INT, subject_id INT, hadm_id INT > admissions,
        starttime TIMESTAMP(0), stoptime TIMESTAMP(0)?, drug VARCHAR(255),
        dose_val_rx VARCHAR(100), dose_unit_rx VARCHAR(50), route VARCHAR(50)""",
    "cost": """row_id INT, subject_id INT, hadm_id INT > admissions, event_type VARCHAR(20),
        event_id INT > diagnoses_icd.row_id procedures_icd.row_id labevents.row_id
        prescriptions.row_id, chargetime TIMESTAMP(0), cost DOUBLE PRECISION""",
    "chartevents": """row_id INT, subject_id INT, hadm_id INT > admissions,
        stay_id INT > icustays, itemid INT > d_items, charttime TIMESTAMP(0),
        valuenum DOUBLE PRECISION?, valueuom VARCHAR(50)?""",
    "inputevents": """row_id INT, subject_id INT, hadm_id INT > admissions,
        stay_id INT > icustays, starttime TIMESTAMP(0), itemid INT > d_items,
        totalamount DOUBLE PRECISION?, totalamountuom VARCHAR(50)?""",
    "outputevents": """row_id INT, subject_id INT, hadm_id INT > admissions,
        stay_id INT > icustays, charttime TIMESTAMP(0), itemid INT > d_items,
        value DOUBLE PRECISION?, valueuom VARCHAR(50)?""",
    "microbiologyevents": """row_id INT, subject_id INT, hadm_id INT > admissions,
        charttime TIMESTAMP(0), spec_type_desc VARCHAR(100)?, test_name VARCHAR(100)?,
        org_name VARCHAR(100)?""",
    "icustays": """row_id INT, subject_id INT, hadm_id INT > admissions, stay_id INT UNIQUE,
        first_careunit VARCHAR(20), last_careunit VARCHAR(20), intime TIMESTAMP(0),
        outtime TIMESTAMP(0)?""",
    "transfers": """row_id INT, subject_id INT, hadm_id INT > admissions, transfer_id INT,
        eventtype VARCHAR(20), careunit VARCHAR(20)?, intime TIMESTAMP(0),
        outtime TIMESTAMP(0)?""",
}
"""The columns of each table. `?` allows NULL; `> table` is a foreign key to the same column there.

`cost.event_id` refers to one of four tables, which `event_type` names. So three of its four
declared keys don't hold for a row. That is also the case in EHRSQL-2024.
"""

TABLES = tuple(_COLUMNS)

TIME_COLUMNS = frozenset(
    part.split()[0] for text in _COLUMNS.values() for part in text.split(",") if "TIMESTAMP" in part
)
"""The names of all columns that hold times."""


def ddl() -> list[str]:
    """Return the CREATE TABLE statements in an order in which they can run."""
    return [_create(table, text) for table, text in _COLUMNS.items()]


def columns(table: str) -> list[str]:
    """Return the names of a table's columns in order."""
    return [part.split()[0] for part in _parts(_COLUMNS[table])]


def _parts(text: str) -> list[str]:
    return [" ".join(part.split()) for part in text.split(",")]


def _create(table: str, text: str) -> str:
    lines: list[str] = []
    keys: list[str] = []
    for part in _parts(text):
        declared, _, targets = part.partition(" > ")
        name, _, rest = declared.partition(" ")
        kind = rest.removesuffix(" UNIQUE").removesuffix("?")
        if name == "row_id":
            lines.append("row_id INTEGER PRIMARY KEY")
            continue
        null = "" if rest.endswith("?") else " NOT NULL"
        lines.append(f"{name} {kind}{null}{' UNIQUE' if rest.endswith(' UNIQUE') else ''}")
        for target in targets.split():
            other, _, column = target.partition(".")
            keys.append(f"FOREIGN KEY ({name}) REFERENCES {other} ({column or name})")
    return f"CREATE TABLE {table} (\n  " + ",\n  ".join(lines + keys) + "\n)"
