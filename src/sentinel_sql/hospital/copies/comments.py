"""What the hospital's tables and columns mean, as comments in a database."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

MARK: Final = "synthetic hospital of Sentinel"
"""Words in the comment of `patients`, by which a copy of the hospital is known."""

TABLE_COMMENTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "patients": f"One row per patient of the {MARK}; nobody in it is real.",
        "admissions": "One row per stay in the hospital.",
        "d_icd_diagnoses": "Names of diagnoses, by code.",
        "d_icd_procedures": "Names of procedures, by code.",
        "d_labitems": "Names of laboratory tests, by itemid.",
        "d_items": "Names of vital signs, inputs and outputs, by itemid.",
        "diagnoses_icd": "Diagnoses of an admission.",
        "procedures_icd": "Procedures of an admission.",
        "labevents": "Results of laboratory tests.",
        "prescriptions": "Orders of drugs.",
        "cost": "What diagnoses, procedures, laboratory tests and prescriptions cost.",
        "chartevents": "Vital signs charted in intensive care.",
        "inputevents": "Fluids given in intensive care.",
        "outputevents": "Fluids lost in intensive care.",
        "microbiologyevents": "Cultures and the organisms found in them.",
        "icustays": "One row per stay in intensive care.",
        "transfers": "Moves between care units.",
    }
)

COLUMN_COMMENTS: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        "patients": {"gender": "f or m", "dob": "date of birth", "dod": "date of death"},
        "admissions": {
            "dischtime": "NULL while the stay goes on",
            "age": "age in years at admission",
        },
        "d_items": {"linksto": "the table in which the item is recorded"},
        "cost": {
            "event_type": "the name of the table that event_id refers to",
            "event_id": "a row_id in the table that event_type names",
        },
        "microbiologyevents": {"org_name": "NULL where nothing grew"},
        "icustays": {"outtime": "NULL while the stay goes on"},
        "transfers": {"outtime": "NULL while the stay goes on"},
    }
)
