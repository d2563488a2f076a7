"""Answerable templates over diagnoses and procedures and their dictionaries."""

from sentinel_sql.hospital.templates.template import answerable

# ruff: noqa: E501

TEMPLATES = (
    answerable(
        "code-of-diagnosis",
        "single",
        "diagnosis",
        "SELECT icd_code FROM d_icd_diagnoses WHERE long_title = :diagnosis",
        """
what is the icd code for {diagnosis}?
which icd code stands for the diagnosis {diagnosis}?
icd code, {diagnosis}
look up the code of {diagnosis}
give me the diagnosis code under which {diagnosis} is filed
""",
    ),
    answerable(
        "title-of-diagnosis-code",
        "single",
        "diagnosis_code",
        "SELECT long_title FROM d_icd_diagnoses WHERE icd_code = :code",
        """
what does the diagnosis code {code} mean?
what is the title of diagnosis code {code}?
title for diagnosis code {code}
look up what {code} stands for among the diagnoses
give the long title of the diagnosis with code {code}
""",
    ),
    answerable(
        "codes-of-admission",
        "single",
        "hadm",
        "SELECT COUNT(*) FROM diagnoses_icd WHERE hadm_id = :hadm",
        """
how many diagnoses were recorded for hospital admission {hadm}?
count the diagnoses of admission {hadm}
number of diagnosis entries, admission {hadm}
how many diagnosis codes does admission {hadm} carry?
tell me the number of diagnoses coded during hospital admission {hadm}
""",
    ),
    answerable(
        "code-of-procedure",
        "single",
        "procedure",
        "SELECT icd_code FROM d_icd_procedures WHERE long_title = :procedure",
        """
what is the icd code for the procedure {procedure}?
which procedure code stands for {procedure}?
icd procedure code, {procedure}
look up the code of the procedure {procedure}
give me the procedure code under which {procedure} is filed
""",
    ),
    answerable(
        "title-of-procedure-code",
        "single",
        "procedure_code",
        "SELECT long_title FROM d_icd_procedures WHERE icd_code = :code",
        """
what does the procedure code {code} mean?
what is the title of procedure code {code}?
title for procedure code {code}
look up what {code} stands for among the procedures
give the long title of the procedure with code {code}
""",
    ),
    answerable(
        "diagnosis-titles-with",
        "single",
        "title_word",
        "SELECT COUNT(*) FROM d_icd_diagnoses WHERE long_title LIKE '%' || :title_word || '%'",
        """
how many diagnosis titles in the dictionary contain the word {title_word}?
count the icd diagnosis titles with {title_word} in them
number of diagnoses in the code dictionary that mention {title_word}
in the diagnosis dictionary, how many titles mention {title_word}?
diagnosis titles with {title_word}: how many are listed?
""",
    ),
    answerable(
        "procedure-titles-with",
        "single",
        "procedure_word",
        "SELECT COUNT(*) FROM d_icd_procedures WHERE long_title LIKE '%' || :procedure_word || '%'",
        """
how many procedure titles in the dictionary contain the word {procedure_word}?
count the icd procedure titles with {procedure_word} in them
number of procedures in the code dictionary that mention {procedure_word}
in the procedure dictionary, how many titles mention {procedure_word}?
procedure titles with {procedure_word}: how many are listed?
""",
    ),
    answerable(
        "different-codes-of-patient",
        "single",
        "patient",
        "SELECT COUNT(DISTINCT icd_code) FROM diagnoses_icd WHERE subject_id = :patient",
        """
how many different diagnosis codes does patient {patient} have?
count the distinct diagnosis codes of patient {patient} over all admissions
number of different diagnoses, patient {patient}
patient {patient} has been given how many different diagnoses?
tell me how many separate diagnosis codes patient {patient} has ever received
""",
    ),
    answerable(
        "procedures-of-patient",
        "single",
        "patient",
        "SELECT COUNT(*) FROM procedures_icd WHERE subject_id = :patient",
        """
how many procedures has patient {patient} undergone, repeats included?
count all recorded procedures of patient {patient}
number of procedure entries, patient {patient}
how many procedure records are there for patient {patient}?
in total, how many times was a procedure done on patient {patient}?
""",
    ),
    answerable(
        "procedures-in-month",
        "single",
        "month",
        "SELECT COUNT(*) FROM procedures_icd WHERE strftime('%Y-%m', charttime) = :month",
        """
how many procedures were recorded in {month}?
count the procedures of {month}
number of procedures carried out in {month}
{month}: how many procedures in total?
in {month}, how many procedure entries were charted?
""",
    ),
    answerable(
        "last-procedure-time",
        "single",
        "patient",
        "SELECT MAX(charttime) FROM procedures_icd WHERE subject_id = :patient",
        """
when did patient {patient} last have any procedure?
what is the time of the most recent procedure of patient {patient}?
time of last procedure, patient {patient}
give the date and time at which patient {patient} had the latest procedure
at what time was a procedure last charted for patient {patient}?
""",
    ),
    answerable(
        "patients-with-diagnosis",
        "join",
        "diagnosis",
        "SELECT COUNT(DISTINCT e.subject_id) FROM diagnoses_icd AS e JOIN d_icd_diagnoses AS d ON d.icd_code = e.icd_code WHERE d.long_title = :diagnosis",
        """
how many patients have been diagnosed with {diagnosis}?
count the distinct patients with a diagnosis of {diagnosis}
number of patients with {diagnosis}
{diagnosis}: how many different patients had it?
tell me how many of our patients carry the diagnosis {diagnosis}
""",
    ),
    answerable(
        "admissions-with-diagnosis-in-year",
        "join",
        "diagnosis year",
        "SELECT COUNT(DISTINCT e.hadm_id) FROM diagnoses_icd AS e JOIN d_icd_diagnoses AS d ON d.icd_code = e.icd_code WHERE d.long_title = :diagnosis AND strftime('%Y', e.charttime) = :year",
        """
in how many admissions was {diagnosis} recorded in {year}?
count the hospital admissions with {diagnosis} charted in {year}
number of admissions with the diagnosis {diagnosis}, recorded {year}
how many admissions have {diagnosis} among the diagnoses of {year}?
{diagnosis} in {year}: number of hospital admissions
""",
    ),
    answerable(
        "diagnoses-of-admission",
        "join",
        "hadm",
        "SELECT DISTINCT d.long_title FROM diagnoses_icd AS e JOIN d_icd_diagnoses AS d ON d.icd_code = e.icd_code WHERE e.hadm_id = :hadm ORDER BY d.long_title",
        """
what were the diagnoses of hospital admission {hadm}?
list the titles of all diagnoses for admission {hadm}
diagnosis titles, admission {hadm}
name the diagnoses coded in hospital admission {hadm}
which diagnoses by name did the patient have in admission {hadm}?
""",
    ),
    answerable(
        "procedures-of-admission",
        "join",
        "icu_hadm",
        "SELECT DISTINCT d.long_title FROM procedures_icd AS e JOIN d_icd_procedures AS d ON d.icd_code = e.icd_code WHERE e.hadm_id = :hadm ORDER BY d.long_title",
        """
what procedures were done during hospital admission {hadm}?
list the titles of the different procedures of admission {hadm}
procedure titles, admission {hadm}
name the procedures of hospital admission {hadm}, each once
which procedures by name did the patient have in admission {hadm}?
""",
    ),
    answerable(
        "patients-with-procedure",
        "join",
        "procedure",
        "SELECT COUNT(DISTINCT e.subject_id) FROM procedures_icd AS e JOIN d_icd_procedures AS d ON d.icd_code = e.icd_code WHERE d.long_title = :procedure",
        """
how many patients have undergone {procedure}?
count the distinct patients who had {procedure}
number of patients with the procedure {procedure}
{procedure}: how many different patients had it done?
on how many individual patients was {procedure} performed?
""",
    ),
    answerable(
        "times-procedure-in-year",
        "join",
        "procedure year",
        "SELECT COUNT(*) FROM procedures_icd AS e JOIN d_icd_procedures AS d ON d.icd_code = e.icd_code WHERE d.long_title = :procedure AND strftime('%Y', e.charttime) = :year",
        """
how many times was {procedure} performed in {year}?
count every {procedure} recorded in {year}, repeats included
number of {procedure} procedures during {year}
in {year}, how often was the procedure {procedure} done?
{procedure}, {year}: total number of times
""",
    ),
    answerable(
        "has-diagnosis",
        "join",
        "patient diagnosis",
        "SELECT COUNT(*) > 0 FROM diagnoses_icd AS e JOIN d_icd_diagnoses AS d ON d.icd_code = e.icd_code WHERE e.subject_id = :patient AND d.long_title = :diagnosis",
        """
has patient {patient} ever been diagnosed with {diagnosis}?
does patient {patient} have a diagnosis of {diagnosis}?
is {diagnosis} among the diagnoses of patient {patient}?
tell me whether patient {patient} was ever given the diagnosis {diagnosis}
patient {patient}: any record of {diagnosis}, yes or no?
""",
    ),
    answerable(
        "had-procedure",
        "join",
        "patient procedure",
        "SELECT COUNT(*) > 0 FROM procedures_icd AS e JOIN d_icd_procedures AS d ON d.icd_code = e.icd_code WHERE e.subject_id = :patient AND d.long_title = :procedure",
        """
has patient {patient} ever had {procedure}?
did patient {patient} undergo {procedure} at any time?
is {procedure} among the procedures of patient {patient}?
tell me whether {procedure} was ever done on patient {patient}
patient {patient}: was {procedure} performed, yes or no?
""",
    ),
    answerable(
        "first-time-diagnosed",
        "join",
        "patient_diagnosis",
        "SELECT MIN(e.charttime) FROM diagnoses_icd AS e JOIN d_icd_diagnoses AS d ON d.icd_code = e.icd_code WHERE e.subject_id = :patient AND d.long_title = :diagnosis",
        """
when was patient {patient} first diagnosed with {diagnosis}?
at what time was {diagnosis} first recorded for patient {patient}?
first diagnosis time of {diagnosis}, patient {patient}
give the time of the earliest {diagnosis} entry for patient {patient}
since when does patient {patient} have {diagnosis} on record?
""",
    ),
    answerable(
        "last-time-of-procedure",
        "join",
        "patient_procedure",
        "SELECT MAX(e.charttime) FROM procedures_icd AS e JOIN d_icd_procedures AS d ON d.icd_code = e.icd_code WHERE e.subject_id = :patient AND d.long_title = :procedure",
        """
when did patient {patient} last have {procedure}?
at what time was {procedure} most recently done on patient {patient}?
last time of {procedure}, patient {patient}
give the time of patient {patient}'s latest {procedure}
what is the most recent time that patient {patient} underwent {procedure}?
""",
    ),
    answerable(
        "times-of-procedure-on-patient",
        "join",
        "patient_procedure",
        "SELECT COUNT(*) FROM procedures_icd AS e JOIN d_icd_procedures AS d ON d.icd_code = e.icd_code WHERE e.subject_id = :patient AND d.long_title = :procedure",
        """
how many times has patient {patient} had {procedure}?
count the occurrences of {procedure} for patient {patient}
number of times {procedure} was done, patient {patient}
how often did patient {patient} undergo {procedure}?
patient {patient}, {procedure}: how many times in all?
""",
    ),
    answerable(
        "diagnosed-this-year",
        "join",
        "diagnosis",
        "SELECT COUNT(DISTINCT e.subject_id) FROM diagnoses_icd AS e JOIN d_icd_diagnoses AS d ON d.icd_code = e.icd_code WHERE d.long_title = :diagnosis AND strftime('%Y', e.charttime) = '2100'",
        """
how many patients were diagnosed with {diagnosis} this year?
this year's patients with {diagnosis}: how many?
count distinct patients with {diagnosis} recorded since the start of this year
so far this year, how many different patients received the diagnosis {diagnosis}?
number of patients given the diagnosis {diagnosis} in the current year
""",
    ),
    answerable(
        "inpatients-with-diagnosis",
        "join",
        "diagnosis",
        "SELECT COUNT(DISTINCT a.subject_id) FROM admissions AS a JOIN diagnoses_icd AS e ON e.hadm_id = a.hadm_id JOIN d_icd_diagnoses AS d ON d.icd_code = e.icd_code WHERE a.dischtime IS NULL AND d.long_title = :diagnosis",
        """
how many current inpatients have {diagnosis} as a diagnosis of their open admission?
count the patients in the hospital now with {diagnosis} in this admission
number of patients still admitted for whom {diagnosis} is coded in the running admission
right now, how many patients lie here with {diagnosis}?
{diagnosis} among the admissions not yet ended: how many patients?
""",
    ),
    answerable(
        "gender-with-diagnosis",
        "harder",
        "gender diagnosis",
        "SELECT COUNT(DISTINCT p.subject_id) FROM patients AS p JOIN diagnoses_icd AS e ON e.subject_id = p.subject_id JOIN d_icd_diagnoses AS d ON d.icd_code = e.icd_code WHERE p.gender = :gender AND d.long_title = :diagnosis",
        """
how many {gender} patients have {diagnosis}?
count the {gender} patients ever diagnosed with {diagnosis}
number of {gender} patients with the diagnosis {diagnosis}
{diagnosis}: how many of the patients are {gender}?
among {gender} patients, how many have been diagnosed with {diagnosis}?
""",
    ),
    answerable(
        "top-diagnoses",
        "harder",
        "k type",
        "SELECT d.long_title FROM diagnoses_icd AS e JOIN d_icd_diagnoses AS d ON d.icd_code = e.icd_code JOIN admissions AS a ON a.hadm_id = e.hadm_id WHERE a.admission_type = :type GROUP BY d.long_title ORDER BY COUNT(DISTINCT e.subject_id) DESC LIMIT :k",
        """
what are the {k} diagnoses that most patients had in {type} admissions?
list the top {k} diagnoses of {type} admissions by number of patients
{k} most common diagnoses in {type} admissions, counting patients
name the {k} diagnoses shared by the largest number of patients at {type} admissions
which {k} diagnosis titles affect the most patients in {type} admissions?
""",
    ),
    answerable(
        "top-procedures",
        "harder",
        "k year",
        "SELECT d.long_title FROM procedures_icd AS e JOIN d_icd_procedures AS d ON d.icd_code = e.icd_code WHERE strftime('%Y', e.charttime) = :year GROUP BY d.long_title ORDER BY COUNT(*) DESC LIMIT :k",
        """
what were the {k} most frequently performed procedures in {year}?
list the top {k} procedures of {year} by number of times done
{k} most frequent procedures, {year}, by title
name the {k} procedures that were carried out most often in {year}
in {year}, which {k} procedures were done the most times?
""",
    ),
    answerable(
        "two-diagnoses",
        "harder",
        "diagnosis diagnosis2",
        "SELECT COUNT(*) FROM patients AS p WHERE EXISTS (SELECT 1 FROM diagnoses_icd AS e JOIN d_icd_diagnoses AS d ON d.icd_code = e.icd_code WHERE e.subject_id = p.subject_id AND d.long_title = :diagnosis) AND EXISTS (SELECT 1 FROM diagnoses_icd AS e JOIN d_icd_diagnoses AS d ON d.icd_code = e.icd_code WHERE e.subject_id = p.subject_id AND d.long_title = :diagnosis2)",
        """
how many patients have had both {diagnosis} and {diagnosis2}?
count the patients diagnosed with {diagnosis} as well as {diagnosis2}
number of patients with {diagnosis} and also {diagnosis2}, in any admission
who has both diagnoses, {diagnosis} and {diagnosis2}? give the number of patients
{diagnosis} together with {diagnosis2}: how many patients have each of the two on record?
""",
    ),
    answerable(
        "deaths-with-diagnosis",
        "harder",
        "diagnosis",
        "SELECT COUNT(DISTINCT p.subject_id) FROM patients AS p JOIN diagnoses_icd AS e ON e.subject_id = p.subject_id JOIN d_icd_diagnoses AS d ON d.icd_code = e.icd_code WHERE d.long_title = :diagnosis AND p.dod IS NOT NULL",
        """
how many patients ever diagnosed with {diagnosis} have died?
count the deceased patients who had {diagnosis}
number of patients with {diagnosis} and a date of death
of the patients with {diagnosis}, how many are dead by now?
{diagnosis}: how many of those patients passed away, in hospital or later?
""",
    ),
    answerable(
        "age-with-diagnosis",
        "harder",
        "diagnosis",
        "SELECT AVG(a.age) FROM admissions AS a WHERE a.hadm_id IN (SELECT e.hadm_id FROM diagnoses_icd AS e JOIN d_icd_diagnoses AS d ON d.icd_code = e.icd_code WHERE d.long_title = :diagnosis)",
        """
what is the average age over the admissions with {diagnosis}?
mean age at admission for hospital admissions coded with {diagnosis}
compute the average admission age where {diagnosis} is a diagnosis
how old are patients on average in admissions with the diagnosis {diagnosis}?
average age, admissions with {diagnosis}
""",
    ),
)
