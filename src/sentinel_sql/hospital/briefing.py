"""Notes and worked examples on the hospital's database, for the prompt of an agent."""

NOTES = """\
- All text is stored in lower case. Stored names differ from what people say: look a name up by one
  telling word of it. Care units, too: see icustays.first_careunit and transfers.careunit.
- Names of diagnoses and procedures: d_icd_diagnoses.long_title and d_icd_procedures.long_title, by
  icd_code. Names of lab tests: d_labitems.label, by itemid. Names of vital signs, inputs and
  outputs: d_items.label, by itemid. Names of drugs: prescriptions.drug, no join.
- gender, dob and dod (date of death) are in patients; age, insurance and locations in admissions.
- cost.event_type is the name of a table, cost.event_id a row_id in it.
- An admission or a stay that goes on has no dischtime or outtime (NULL).
- "How many patients" means COUNT(DISTINCT subject_id); orders, events and stays count by rows.
- Four of five questions can be answered: after an error or an empty look-up try another way.
"""

EXAMPLES = (
    """\
QUESTION: how many patients were ever prescribed ibuprofen?
THOUGHT: Drug names may be stored longer; look first.
SQL: SELECT DISTINCT drug FROM prescriptions WHERE drug LIKE '%ibuprofen%'
RESULT: 1 rows x 1 cols; sample [['ibuprofen suspension']]
THOUGHT: Patients, not orders: count each once.
FINAL_SQL: SELECT COUNT(DISTINCT subject_id) FROM prescriptions \
WHERE drug = 'ibuprofen suspension'""",
    """\
QUESTION: highest magnesium of patient 10001 in 2099
THOUGHT: Lab names are in d_labitems; look first.
SQL: SELECT itemid, label FROM d_labitems WHERE label LIKE '%magnesium%'
RESULT: 1 rows x 2 cols; sample [['50960', 'magnesium, serum']]
THOUGHT: The highest value, in that year.
FINAL_SQL: SELECT MAX(valuenum) FROM labevents WHERE subject_id = 10001 AND itemid = 50960 \
AND strftime('%Y', charttime) = '2099'""",
    """\
QUESTION: how many icu stays began in march 2098?
THOUGHT: icustays has intime; compare year and month.
FINAL_SQL: SELECT COUNT(*) FROM icustays WHERE strftime('%Y-%m', intime) = '2098-03'""",
    """\
QUESTION: how many admissions carried the diagnosis gout?
THOUGHT: Diagnosis names are in d_icd_diagnoses; look first.
SQL: SELECT icd_code, long_title FROM d_icd_diagnoses WHERE long_title LIKE '%gout%'
RESULT: 1 rows x 2 cols; sample [['m109', 'gout, unspecified']]
THOUGHT: Count the admissions with that code.
FINAL_SQL: SELECT COUNT(DISTINCT hadm_id) FROM diagnoses_icd WHERE icd_code = 'm109'""",
    """\
QUESTION: how many women died?
THOUGHT: Count the deaths of women.
FINAL_SQL: SELECT COUNT(*) FROM admissions WHERE gender = 'f' AND dod IS NOT NULL
RESULT: ERROR: no such column: gender
THOUGHT: gender and dod are in patients.
FINAL_SQL: SELECT COUNT(*) FROM patients WHERE gender = 'f' AND dod IS NOT NULL""",
    """\
QUESTION: which surgeon operated on patient 10002?
THOUGHT: No table and no column names a surgeon.
FINAL: null""",
    """\
QUESTION: mean respiratory rate in icu stay 30007
THOUGHT: Vital signs are named in d_items; look first.
SQL: SELECT itemid, label FROM d_items WHERE label LIKE '%respiratory rate%'
RESULT: 1 rows x 2 cols; sample [['220210', 'respiratory rate']]
THOUGHT: Average of the charted values of that stay.
FINAL_SQL: SELECT AVG(valuenum) FROM chartevents WHERE stay_id = 30007 AND itemid = 220210""",
    """\
QUESTION: when was patient 10003 last discharged?
THOUGHT: The latest dischtime of admissions.
FINAL_SQL: SELECT MAX(dischtime) FROM admissions WHERE subject_id = 10003""",
)
