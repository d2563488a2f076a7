"""Answerable templates over prescriptions and costs."""

from sentinel_sql.hospital.templates.template import answerable

# ruff: noqa: E501

TEMPLATES = (
    answerable(
        "prescriptions-of-drug",
        "single",
        "drug",
        "SELECT COUNT(*) FROM prescriptions WHERE drug = :drug",
        """
how many prescriptions of {drug} were there?
count all {drug} prescriptions, repeats included
number of {drug} orders
how many times was {drug} prescribed?
{drug}: total number of prescriptions
""",
    ),
    answerable(
        "patients-on-drug",
        "single",
        "drug",
        "SELECT COUNT(DISTINCT subject_id) FROM prescriptions WHERE drug = :drug",
        """
how many patients were prescribed {drug}?
count the distinct patients who got {drug}
number of patients with a {drug} prescription
to how many different patients was {drug} given?
{drug}: how many patients, not orders?
""",
    ),
    answerable(
        "patients-on-drug-in-year",
        "single",
        "drug year",
        "SELECT COUNT(DISTINCT subject_id) FROM prescriptions WHERE drug = :drug AND strftime('%Y', starttime) = :year",
        """
how many patients were started on {drug} in {year}?
count the distinct patients with a {drug} prescription beginning in {year}
number of patients prescribed {drug} in {year}
in {year}, how many different patients got {drug}?
{drug}, {year}: number of patients
""",
    ),
    answerable(
        "prescriptions-of-patient",
        "single",
        "patient",
        "SELECT COUNT(*) FROM prescriptions WHERE subject_id = :patient",
        """
how many prescriptions does patient {patient} have?
count all prescriptions of patient {patient}
number of prescriptions, patient {patient}
how many drug orders were written for patient {patient}?
tell me the total number of prescriptions patient {patient} has received
""",
    ),
    answerable(
        "drugs-of-patient",
        "single",
        "patient",
        "SELECT COUNT(DISTINCT drug) FROM prescriptions WHERE subject_id = :patient",
        """
how many different drugs has patient {patient} been prescribed?
count the distinct drugs of patient {patient}
number of different drugs, patient {patient}
patient {patient} received how many separate drugs?
tell me how many kinds of drug were prescribed to patient {patient}
""",
    ),
    answerable(
        "got-drug",
        "single",
        "patient drug",
        "SELECT COUNT(*) > 0 FROM prescriptions WHERE subject_id = :patient AND drug = :drug",
        """
has patient {patient} ever been prescribed {drug}?
did patient {patient} get {drug} at any time?
is {drug} among the prescriptions of patient {patient}?
tell me whether patient {patient} ever received {drug}
patient {patient}: was {drug} prescribed, yes or no?
""",
    ),
    answerable(
        "first-time-of-drug",
        "single",
        "patient_drug",
        "SELECT MIN(starttime) FROM prescriptions WHERE subject_id = :patient AND drug = :drug",
        """
when was patient {patient} first prescribed {drug}?
at what time did the first {drug} prescription of patient {patient} start?
first start of {drug}, patient {patient}
give the start time of patient {patient}'s earliest {drug} order
since when has patient {patient} had {drug}, the first time?
""",
    ),
    answerable(
        "last-time-of-drug",
        "single",
        "patient_drug",
        "SELECT MAX(starttime) FROM prescriptions WHERE subject_id = :patient AND drug = :drug",
        """
when was patient {patient} last prescribed {drug}?
at what time did the most recent {drug} prescription of patient {patient} start?
last start of {drug}, patient {patient}
give the start time of patient {patient}'s latest {drug} order
when did patient {patient} last get a new order of {drug}?
""",
    ),
    answerable(
        "last-dose-of-drug",
        "single",
        "patient_drug",
        "SELECT dose_val_rx FROM prescriptions WHERE subject_id = :patient AND drug = :drug ORDER BY starttime DESC LIMIT 1",
        """
what was the last dose of {drug} prescribed to patient {patient}?
what dose had the most recent {drug} prescription of patient {patient}?
latest {drug} dose, patient {patient}
give me the dose in patient {patient}'s newest order of {drug}
patient {patient}: how much {drug} was ordered the last time?
""",
    ),
    answerable(
        "route-of-drug",
        "single",
        "patient_drug",
        "SELECT DISTINCT route FROM prescriptions WHERE subject_id = :patient AND drug = :drug ORDER BY route",
        """
by which route was {drug} prescribed to patient {patient}?
what is the route of {drug} for patient {patient}?
route of {drug}, patient {patient}
look up the route by which patient {patient} got {drug}
how, by route, was {drug} ordered for patient {patient}?
""",
    ),
    answerable(
        "unit-of-drug",
        "single",
        "drug",
        "SELECT DISTINCT dose_unit_rx FROM prescriptions WHERE drug = :drug ORDER BY dose_unit_rx",
        """
in what unit are doses of {drug} prescribed?
what is the dose unit of {drug} prescriptions?
dose unit, {drug}
look up the unit in which {drug} is ordered
which unit do the doses of {drug} have?
""",
    ),
    answerable(
        "drugs-by-route-in-admission",
        "single",
        "hadm route",
        "SELECT COUNT(*) FROM prescriptions WHERE hadm_id = :hadm AND route = :route",
        """
how many prescriptions {route} were there in hospital admission {hadm}?
count the prescriptions given {route} in admission {hadm}
number of orders {route}, admission {hadm}
in admission {hadm}, how many prescriptions were to be given {route}?
admission {hadm}, prescriptions {route}: how many?
""",
    ),
    answerable(
        "drug-list-by-route",
        "single",
        "patient_route",
        "SELECT DISTINCT drug FROM prescriptions WHERE subject_id = :patient AND route = :route ORDER BY drug",
        """
which drugs has patient {patient} been prescribed {route}?
list the different drugs given {route} to patient {patient}
drugs {route}, patient {patient}
name each drug that patient {patient} was ordered {route}
what did patient {patient} get {route}? list the drugs
""",
    ),
    answerable(
        "open-prescriptions",
        "single",
        "present",
        "SELECT COUNT(*) FROM prescriptions WHERE subject_id = :patient AND stoptime IS NULL",
        """
how many prescriptions of patient {patient} have no stop time yet?
count the prescriptions still running for patient {patient}, that is without a stop time
number of prescriptions not stopped, patient {patient}
patient {patient}: how many drug orders are still open, stop time missing?
tell me how many of patient {patient}'s prescriptions haven't been stopped
""",
    ),
    answerable(
        "prescriptions-in-month",
        "single",
        "month drug",
        "SELECT COUNT(*) FROM prescriptions WHERE drug = :drug AND strftime('%Y-%m', starttime) = :month",
        """
how many {drug} prescriptions started in {month}?
count the {drug} orders of {month}
number of prescriptions of {drug} with a start in {month}
in {month}, how often was {drug} prescribed?
{month}, {drug}: how many prescriptions?
""",
    ),
    answerable(
        "top-drugs",
        "single",
        "k year",
        "SELECT drug FROM prescriptions WHERE strftime('%Y', starttime) = :year GROUP BY drug ORDER BY COUNT(*) DESC LIMIT :k",
        """
what were the {k} most often prescribed drugs in {year}?
list the top {k} drugs of {year} by number of prescriptions
{k} most prescribed drugs, {year}
name the {k} drugs with the most prescriptions in {year}
in {year}, which {k} drugs were ordered the most times?
""",
    ),
    answerable(
        "largest-dose",
        "single",
        "drug",
        "SELECT MAX(CAST(dose_val_rx AS REAL)) FROM prescriptions WHERE drug = :drug",
        """
what is the largest dose of {drug} ever prescribed?
highest single dose among {drug} prescriptions
maximum dose of {drug}
how high was the greatest {drug} dose in any order?
find the largest dose value ordered for {drug}
""",
    ),
    answerable(
        "cost-of-admission",
        "single",
        "hadm",
        "SELECT SUM(cost) FROM cost WHERE hadm_id = :hadm",
        """
what was the total cost of hospital admission {hadm}?
how much did admission {hadm} cost in all?
total cost, admission {hadm}
add up the costs of hospital admission {hadm}
give the sum of everything charged in admission {hadm}
""",
    ),
    answerable(
        "cost-of-patient-in-year",
        "single",
        "patient year",
        "SELECT SUM(cost) FROM cost WHERE subject_id = :patient AND strftime('%Y', chargetime) = :year",
        """
what did patient {patient} cost in {year} altogether?
total cost charged for patient {patient} in {year}
sum of all {year} costs of patient {patient}
how much was charged for patient {patient} during {year}?
patient {patient}, {year}: total cost
""",
    ),
    answerable(
        "largest-charge",
        "single",
        "charge hadm",
        "SELECT MAX(cost) FROM cost WHERE event_type = :charge AND hadm_id = :hadm",
        """
what was the highest single {charge} cost in admission {hadm}?
largest {charge} charge of hospital admission {hadm}
maximum cost of one {charge} in admission {hadm}
how much was the most expensive {charge} of admission {hadm}?
find the top {charge} cost in hospital admission {hadm}
""",
    ),
    answerable(
        "mean-charge",
        "single",
        "charge year",
        "SELECT AVG(cost) FROM cost WHERE event_type = :charge AND strftime('%Y', chargetime) = :year",
        """
what was the average cost of a {charge} charge in {year}?
mean {charge} cost, {year}
compute the average cost over all {charge} charges of {year}
how much did a {charge} cost on average in {year}?
average {charge} cost during {year}
""",
    ),
    answerable(
        "charges-of-admission",
        "single",
        "charge hadm",
        "SELECT COUNT(*) FROM cost WHERE event_type = :charge AND hadm_id = :hadm",
        """
how many {charge} charges does hospital admission {hadm} have?
count the {charge} entries in the costs of admission {hadm}
number of {charge} charges, admission {hadm}
how often was a {charge} charged in admission {hadm}?
tell me the number of {charge} cost entries for admission {hadm}
""",
    ),
    answerable(
        "mean-cost-of-drug",
        "join",
        "drug",
        "SELECT AVG(c.cost) FROM cost AS c JOIN prescriptions AS p ON p.row_id = c.event_id WHERE c.event_type = 'prescriptions' AND p.drug = :drug",
        """
what does a prescription of {drug} cost on average?
average cost per {drug} prescription
compute the mean cost of {drug} orders
how much is charged for one {drug} prescription on average?
mean cost, {drug}
""",
    ),
    answerable(
        "total-cost-of-drug",
        "join",
        "drug year",
        "SELECT SUM(c.cost) FROM cost AS c JOIN prescriptions AS p ON p.row_id = c.event_id WHERE c.event_type = 'prescriptions' AND p.drug = :drug AND strftime('%Y', c.chargetime) = :year",
        """
what was the total cost of {drug} prescriptions in {year}?
how much was charged for {drug} altogether in {year}?
sum of the {year} costs of {drug}
add up what prescriptions of {drug} cost in {year}
total cost, {drug}, {year}
""",
    ),
    answerable(
        "gender-on-drug",
        "join",
        "gender drug",
        "SELECT COUNT(DISTINCT p.subject_id) FROM prescriptions AS r JOIN patients AS p ON p.subject_id = r.subject_id WHERE p.gender = :gender AND r.drug = :drug",
        """
how many {gender} patients were prescribed {drug}?
count the distinct {gender} patients who got {drug}
number of {gender} patients with a {drug} prescription
to how many different {gender} patients was {drug} given?
{drug}, {gender} patients: how many?
""",
    ),
    answerable(
        "admissions-of-type-on-drug",
        "join",
        "type drug",
        "SELECT COUNT(DISTINCT a.hadm_id) FROM admissions AS a JOIN prescriptions AS r ON r.hadm_id = a.hadm_id WHERE a.admission_type = :type AND r.drug = :drug",
        """
in how many {type} admissions was {drug} prescribed?
count the {type} admissions with at least one {drug} prescription
number of {type} admissions on {drug}
how many different {type} admissions had {drug} ordered?
{type} admissions, {drug} prescribed: how many admissions?
""",
    ),
    answerable(
        "inpatients-on-drug",
        "join",
        "drug",
        "SELECT COUNT(DISTINCT a.subject_id) FROM admissions AS a JOIN prescriptions AS r ON r.hadm_id = a.hadm_id WHERE a.dischtime IS NULL AND r.drug = :drug",
        """
how many current inpatients were prescribed {drug} in their present admission?
count the patients in the hospital now who got {drug} during this admission
number of patients still admitted with a {drug} prescription in the open admission
right now, how many inpatients have had {drug} ordered since they came in?
{drug} in admissions not yet ended: how many patients?
""",
    ),
    answerable(
        "over-age-on-drug",
        "join",
        "age drug",
        "SELECT COUNT(DISTINCT a.subject_id) FROM admissions AS a JOIN prescriptions AS r ON r.hadm_id = a.hadm_id WHERE a.age > :age AND r.drug = :drug",
        """
how many patients older than {age} at admission were prescribed {drug} in that admission?
count distinct patients aged over {age} who got {drug}, age taken at that admission
number of patients above {age} years with {drug} ordered in the same admission
over the age of {age} when admitted and given {drug}: how many different patients?
{drug} in patients admitted when over {age}: how many patients?
""",
    ),
    answerable(
        "insurance-on-drug",
        "join",
        "insurance drug",
        "SELECT COUNT(*) FROM prescriptions AS r JOIN admissions AS a ON a.hadm_id = r.hadm_id WHERE a.insurance = :insurance AND r.drug = :drug",
        """
how many {drug} prescriptions were written in admissions with {insurance} insurance?
count the {drug} orders of {insurance} insured admissions
number of {drug} prescriptions under {insurance} insurance
with {insurance} insurance, how often was {drug} prescribed?
{insurance} insurance, {drug}: total prescriptions
""",
    ),
    answerable(
        "dead-on-drug",
        "join",
        "drug",
        "SELECT COUNT(DISTINCT p.subject_id) FROM prescriptions AS r JOIN patients AS p ON p.subject_id = r.subject_id WHERE r.drug = :drug AND p.dod IS NOT NULL",
        """
how many patients who ever got {drug} have died?
count the deceased patients with a {drug} prescription
number of patients prescribed {drug} who have a date of death
of the patients ever on {drug}, how many are dead by now?
{drug} prescribed and patient died at some time: how many patients?
""",
    ),
    answerable(
        "cost-of-gender",
        "join",
        "gender charge",
        "SELECT AVG(c.cost) FROM cost AS c JOIN patients AS p ON p.subject_id = c.subject_id WHERE p.gender = :gender AND c.event_type = :charge",
        """
what is the average {charge} cost for {gender} patients?
mean cost of a {charge} charge among {gender} patients
compute the average {charge} cost where the patient is {gender}
how much does a {charge} of a {gender} patient cost on average?
average {charge} cost, {gender}
""",
    ),
    answerable(
        "cost-of-insurance",
        "join",
        "insurance year",
        "SELECT SUM(c.cost) FROM cost AS c JOIN admissions AS a ON a.hadm_id = c.hadm_id WHERE a.insurance = :insurance AND strftime('%Y', c.chargetime) = :year",
        """
what was the total cost of admissions with {insurance} insurance in {year}?
sum of all {year} charges for {insurance} insured admissions
how much was charged in {year} for admissions under {insurance} insurance?
add up the {year} costs where the insurance is {insurance}
total {year} cost, insurance {insurance}
""",
    ),
    answerable(
        "drug-in-unit",
        "join",
        "icu drug",
        "SELECT COUNT(DISTINCT i.hadm_id) FROM icustays AS i JOIN prescriptions AS r ON r.hadm_id = i.hadm_id WHERE i.first_careunit = :icu AND r.drug = :drug",
        """
how many admissions with an icu stay begun in {icu} had {drug} prescribed?
count the admissions where a stay started in {icu} and {drug} was ordered
number of hospital admissions with first unit {icu} and a {drug} prescription
among admissions with an icu stay first in {icu}, how many had {drug}?
{icu} as first unit, {drug} ordered at any time: how many admissions?
""",
    ),
    answerable(
        "two-drugs",
        "harder",
        "drug drug2",
        "SELECT COUNT(DISTINCT a.subject_id) FROM prescriptions AS a JOIN prescriptions AS b ON b.hadm_id = a.hadm_id WHERE a.drug = :drug AND b.drug = :drug2",
        """
how many patients were prescribed both {drug} and {drug2} in one and the same admission?
count the patients who got {drug} and also {drug2} during the same admission
number of patients with {drug} as well as {drug2} in a single admission
{drug} together with {drug2} in the same hospital admission: how many patients?
to how many different patients were {drug} and {drug2} given within one admission?
""",
    ),
    answerable(
        "top-drugs-with-diagnosis",
        "harder",
        "k diagnosis",
        "SELECT r.drug FROM prescriptions AS r WHERE r.hadm_id IN (SELECT x.hadm_id FROM diagnoses_icd AS x JOIN d_icd_diagnoses AS d ON d.icd_code = x.icd_code WHERE d.long_title = :diagnosis) GROUP BY r.drug ORDER BY COUNT(*) DESC LIMIT :k",
        """
what are the {k} most prescribed drugs in admissions with {diagnosis}?
list the top {k} drugs by number of prescriptions where the admission has {diagnosis}
{k} most prescribed drugs, admissions with {diagnosis}
name the {k} drugs ordered most often in admissions coded with {diagnosis}
in hospital admissions with {diagnosis}, which {k} drugs have the most prescriptions?
""",
    ),
    answerable(
        "costliest-patients",
        "harder",
        "k year",
        "SELECT subject_id FROM cost WHERE strftime('%Y', chargetime) = :year GROUP BY subject_id ORDER BY SUM(cost) DESC LIMIT :k",
        """
which {k} patients had the highest total cost in {year}?
list the {k} patient ids with the largest sum of costs in {year}
top {k} patients by total cost, {year}
name the {k} patients for whom most was charged in {year}
in {year}, who were the {k} most expensive patients, by patient id?
""",
    ),
    answerable(
        "mean-admission-cost",
        "harder",
        "type",
        "SELECT AVG(total) FROM (SELECT SUM(c.cost) AS total FROM cost AS c JOIN admissions AS a ON a.hadm_id = c.hadm_id WHERE a.admission_type = :type GROUP BY c.hadm_id)",
        """
what is the average total cost per {type} admission?
mean of the total cost over {type} admissions
compute the average cost of a whole {type} admission
how much does one {type} admission cost in total on average?
average total cost, admission type {type}
""",
    ),
    answerable(
        "cost-of-procedure",
        "harder",
        "procedure",
        "SELECT AVG(c.cost) FROM cost AS c JOIN procedures_icd AS e ON e.row_id = c.event_id JOIN d_icd_procedures AS d ON d.icd_code = e.icd_code WHERE c.event_type = 'procedures_icd' AND d.long_title = :procedure",
        """
what does the procedure {procedure} cost on average?
average cost per {procedure}
compute the mean cost of the procedure {procedure}
how much is charged for one {procedure} on average?
mean cost, procedure {procedure}
""",
    ),
    answerable(
        "cost-of-lab",
        "harder",
        "lab",
        "SELECT AVG(c.cost) FROM cost AS c JOIN labevents AS e ON e.row_id = c.event_id JOIN d_labitems AS d ON d.itemid = e.itemid WHERE c.event_type = 'labevents' AND d.label = :lab",
        """
what does a {lab} test cost on average?
average cost per {lab} measurement
compute the mean cost of the lab test {lab}
how much is charged for one {lab} on average?
mean cost, lab test {lab}
""",
    ),
)
