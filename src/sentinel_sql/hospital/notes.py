"""What a newcomer to the hospital's database is told; goes into an agent's prompt."""

NOTES = """\
- All text is stored in lower case. Names are often longer than people say them.
- Diagnosis and procedure names: d_icd_diagnoses.long_title and d_icd_procedures.long_title, joined
  by icd_code. Lab test names: d_labitems.label, joined by itemid. Names of vital signs, inputs and
  outputs: d_items.label, joined by itemid. Drug names: prescriptions.drug, no join.
- cost.event_type is the name of a table and cost.event_id a row_id in it.
- An admission or a stay that goes on has no dischtime or outtime (NULL).
"""
