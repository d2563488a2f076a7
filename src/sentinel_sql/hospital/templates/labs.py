"""Answerable templates over laboratory results and microbiology."""

from sentinel_sql.hospital.templates.template import answerable

# ruff: noqa: E501

TEMPLATES = (
    answerable(
        "item-of-lab",
        "single",
        "lab",
        "SELECT itemid FROM d_labitems WHERE label = :lab",
        """
what is the item id of {lab} in the lab dictionary?
which itemid stands for the lab test {lab}?
lab item id, {lab}
look up the item id of the laboratory test {lab}
give me the itemid under which {lab} is filed as a lab
""",
    ),
    answerable(
        "label-of-lab-item",
        "single",
        "lab_item",
        "SELECT label FROM d_labitems WHERE itemid = :item",
        """
what lab test has the item id {item}?
what is the label of lab item {item}?
label of lab item {item}
look up which laboratory test {item} stands for
give the name of the lab test with itemid {item}
""",
    ),
    answerable(
        "lab-results-of-admission",
        "single",
        "hadm",
        "SELECT COUNT(*) FROM labevents WHERE hadm_id = :hadm",
        """
how many lab results belong to hospital admission {hadm}?
count the laboratory results of admission {hadm}
number of lab values, admission {hadm}
how many lab events were recorded during admission {hadm}?
tell me how many results the lab reported in hospital admission {hadm}
""",
    ),
    answerable(
        "last-lab-time",
        "single",
        "patient",
        "SELECT MAX(charttime) FROM labevents WHERE subject_id = :patient",
        """
when was the last lab result of patient {patient} charted?
what is the time of the most recent lab test of patient {patient}?
time of last lab, patient {patient}
give the date and time of patient {patient}'s latest laboratory result
at what time did patient {patient} last have any lab measured?
""",
    ),
    answerable(
        "labs-without-value",
        "single",
        "year",
        "SELECT COUNT(*) FROM labevents WHERE valuenum IS NULL AND strftime('%Y', charttime) = :year",
        """
how many lab results of {year} have no numeric value?
count the {year} lab events where the value is missing
number of lab results in {year} without a value
in {year}, how many laboratory results lack a number?
lab events, {year}, value missing: how many?
""",
    ),
    answerable(
        "different-labs-of-patient",
        "single",
        "patient",
        "SELECT COUNT(DISTINCT itemid) FROM labevents WHERE subject_id = :patient",
        """
how many different lab tests has patient {patient} had?
count the distinct lab items measured for patient {patient}
number of different laboratory tests, patient {patient}
patient {patient} was tested for how many separate lab items?
tell me how many kinds of lab tests were done for patient {patient}
""",
    ),
    answerable(
        "cultures-of-specimen",
        "single",
        "specimen year",
        "SELECT COUNT(*) FROM microbiologyevents WHERE spec_type_desc = :specimen AND strftime('%Y', charttime) = :year",
        """
how many microbiology tests on {specimen} specimens were there in {year}?
count the {year} microbiology records with specimen {specimen}
number of {specimen} specimens tested in microbiology in {year}
in {year}, how often was a {specimen} specimen examined in microbiology?
microbiology, specimen {specimen}, {year}: how many records?
""",
    ),
    answerable(
        "patients-with-organism",
        "single",
        "organism",
        "SELECT COUNT(DISTINCT subject_id) FROM microbiologyevents WHERE org_name = :organism",
        """
how many patients had {organism} found in microbiology?
count the distinct patients with a growth of {organism}
number of patients positive for {organism}
in how many different patients was {organism} detected?
organism {organism}: how many patients had it?
""",
    ),
    answerable(
        "cultures-with-growth",
        "single",
        "specimen",
        "SELECT COUNT(*) FROM microbiologyevents WHERE spec_type_desc = :specimen AND org_name IS NOT NULL",
        """
how many {specimen} specimens in microbiology grew an organism?
count the microbiology records of {specimen} specimens where an organism was found
number of {specimen} specimens with any organism
of the {specimen} specimens, how many had growth of some organism?
{specimen} specimens, organism present: how many microbiology records?
""",
    ),
    answerable(
        "organisms-of-specimen",
        "single",
        "specimen",
        "SELECT DISTINCT org_name FROM microbiologyevents WHERE spec_type_desc = :specimen AND org_name IS NOT NULL ORDER BY org_name",
        """
which organisms have been found in {specimen} specimens?
list the different organisms grown from {specimen} specimens
organisms seen in {specimen} specimens
name each organism that microbiology found in a {specimen} specimen
what organisms did {specimen} specimens ever show?
""",
    ),
    answerable(
        "last-specimen-time",
        "single",
        "patient_specimen",
        "SELECT MAX(charttime) FROM microbiologyevents WHERE subject_id = :patient AND spec_type_desc = :specimen",
        """
when was the last {specimen} specimen of patient {patient} tested in microbiology?
what is the time of the most recent microbiology test on a {specimen} specimen of patient {patient}?
last {specimen} specimen in microbiology, patient {patient}
give the time of patient {patient}'s latest {specimen} specimen
at what time did patient {patient} last have a {specimen} specimen examined for organisms?
""",
    ),
    answerable(
        "last-organism-of-patient",
        "single",
        "grown_specimen",
        "SELECT org_name FROM microbiologyevents WHERE subject_id = :patient AND spec_type_desc = :specimen AND org_name IS NOT NULL ORDER BY charttime DESC LIMIT 1",
        """
what organism was last found in a {specimen} specimen of patient {patient}?
name the organism that most recently grew in patient {patient}'s {specimen} specimen
latest organism from {specimen} specimens, patient {patient}
which organism did the newest positive {specimen} specimen of patient {patient} show?
look up the last organism detected in {specimen} specimens from patient {patient}
""",
    ),
    answerable(
        "specimens-of-patient",
        "single",
        "patient_specimen",
        "SELECT COUNT(*) FROM microbiologyevents WHERE subject_id = :patient AND spec_type_desc = :specimen",
        """
how many {specimen} specimens of patient {patient} went to microbiology?
count the microbiology records of {specimen} specimens for patient {patient}
number of {specimen} specimens examined, patient {patient}
how often was a {specimen} specimen of patient {patient} tested in microbiology?
patient {patient}, {specimen} specimens: how many microbiology records?
""",
    ),
    answerable(
        "commonest-organism",
        "single",
        "specimen",
        "SELECT org_name FROM microbiologyevents WHERE spec_type_desc = :specimen AND org_name IS NOT NULL GROUP BY org_name ORDER BY COUNT(*) DESC LIMIT 1",
        """
what is the most common organism in {specimen} specimens?
which organism was found most often in {specimen} specimens?
most frequent organism, {specimen} specimens
name the organism with the most records among {specimen} specimens
find the commonest organism from {specimen} specimens
""",
    ),
    answerable(
        "last-lab-value",
        "join",
        "patient_lab",
        "SELECT e.valuenum FROM labevents AS e JOIN d_labitems AS d ON d.itemid = e.itemid WHERE e.subject_id = :patient AND d.label = :lab AND e.valuenum IS NOT NULL ORDER BY e.charttime DESC LIMIT 1",
        """
what was the last {lab} value of patient {patient}?
what is the most recent {lab} result for patient {patient}?
latest {lab}, patient {patient}
give me the newest {lab} value measured in patient {patient}
patient {patient}: how high was {lab} at the last measurement?
""",
    ),
    answerable(
        "first-lab-value",
        "join",
        "patient_lab",
        "SELECT e.valuenum FROM labevents AS e JOIN d_labitems AS d ON d.itemid = e.itemid WHERE e.subject_id = :patient AND d.label = :lab AND e.valuenum IS NOT NULL ORDER BY e.charttime LIMIT 1",
        """
what was the first {lab} value of patient {patient}?
what is the earliest {lab} result on record for patient {patient}?
first {lab} value, patient {patient}
give me the value of the first {lab} measured in patient {patient}
patient {patient}: how high was {lab} at the very first measurement?
""",
    ),
    answerable(
        "highest-lab-value",
        "join",
        "patient_lab",
        "SELECT MAX(e.valuenum) FROM labevents AS e JOIN d_labitems AS d ON d.itemid = e.itemid WHERE e.subject_id = :patient AND d.label = :lab",
        """
what was the highest {lab} value of patient {patient}?
what is the maximum {lab} ever measured in patient {patient}?
peak {lab}, patient {patient}
give me the top {lab} result of patient {patient}
how high did {lab} get in patient {patient}?
""",
    ),
    answerable(
        "lowest-lab-value-in-year",
        "join",
        "patient_lab year",
        "SELECT MIN(e.valuenum) FROM labevents AS e JOIN d_labitems AS d ON d.itemid = e.itemid WHERE e.subject_id = :patient AND d.label = :lab AND strftime('%Y', e.charttime) = :year",
        """
what was the lowest {lab} value of patient {patient} in {year}?
minimum {lab} measured in patient {patient} during {year}
lowest {lab}, patient {patient}, {year}
give me the smallest {lab} result of patient {patient} from {year}
how low did {lab} get in patient {patient} in {year}?
""",
    ),
    answerable(
        "mean-lab-of-admission",
        "join",
        "hadm_lab",
        "SELECT AVG(e.valuenum) FROM labevents AS e JOIN d_labitems AS d ON d.itemid = e.itemid WHERE e.hadm_id = :hadm AND d.label = :lab",
        """
what was the average {lab} during hospital admission {hadm}?
mean {lab} over admission {hadm}
compute the average of all {lab} values in admission {hadm}
average {lab} value, admission {hadm}
over hospital admission {hadm}, what did {lab} average?
""",
    ),
    answerable(
        "last-time-of-lab",
        "join",
        "patient_lab",
        "SELECT MAX(e.charttime) FROM labevents AS e JOIN d_labitems AS d ON d.itemid = e.itemid WHERE e.subject_id = :patient AND d.label = :lab",
        """
when was {lab} last measured in patient {patient}?
what is the time of the most recent {lab} test of patient {patient}?
time of last {lab}, patient {patient}
give the date and time of patient {patient}'s latest {lab} measurement
at what time did patient {patient} last have {lab} taken?
""",
    ),
    answerable(
        "times-of-lab-on-patient",
        "join",
        "patient_lab",
        "SELECT COUNT(*) FROM labevents AS e JOIN d_labitems AS d ON d.itemid = e.itemid WHERE e.subject_id = :patient AND d.label = :lab",
        """
how many times was {lab} measured in patient {patient}?
count the {lab} results of patient {patient}
number of {lab} tests, patient {patient}
how often did patient {patient} have {lab} tested?
patient {patient}, {lab}: how many results in all?
""",
    ),
    answerable(
        "patients-with-lab",
        "join",
        "lab",
        "SELECT COUNT(DISTINCT e.subject_id) FROM labevents AS e JOIN d_labitems AS d ON d.itemid = e.itemid WHERE d.label = :lab",
        """
how many patients have had {lab} measured?
count the distinct patients with a {lab} result
number of patients tested for {lab}
in how many different patients was {lab} ever measured?
{lab}: how many patients have at least one result?
""",
    ),
    answerable(
        "results-above",
        "join",
        "lab_above",
        "SELECT COUNT(*) FROM labevents AS e JOIN d_labitems AS d ON d.itemid = e.itemid WHERE d.label = :lab AND e.valuenum > :threshold",
        """
how many {lab} results were above {threshold}?
count the {lab} values greater than {threshold}
number of {lab} measurements over {threshold}
how often was a {lab} value higher than {threshold} measured?
{lab} > {threshold}: how many results?
""",
    ),
    answerable(
        "patients-above",
        "join",
        "lab_above",
        "SELECT COUNT(DISTINCT e.subject_id) FROM labevents AS e JOIN d_labitems AS d ON d.itemid = e.itemid WHERE d.label = :lab AND e.valuenum > :threshold",
        """
how many patients ever had {lab} above {threshold}?
count the patients with at least one {lab} value greater than {threshold}
number of distinct patients whose {lab} went over {threshold}
in how many different patients was {lab} higher than {threshold} at some time?
{lab} > {threshold}: how many patients, each counted once?
""",
    ),
    answerable(
        "unit-of-lab",
        "join",
        "lab",
        "SELECT DISTINCT e.valueuom FROM labevents AS e JOIN d_labitems AS d ON d.itemid = e.itemid WHERE d.label = :lab AND e.valueuom IS NOT NULL ORDER BY e.valueuom",
        """
in what unit is {lab} reported?
what is the unit of measurement of {lab} results?
unit of {lab}
look up the unit in which the lab gives {lab}
which unit do {lab} values have?
""",
    ),
    answerable(
        "time-of-highest-lab",
        "join",
        "patient_lab",
        "SELECT e.charttime FROM labevents AS e JOIN d_labitems AS d ON d.itemid = e.itemid WHERE e.subject_id = :patient AND d.label = :lab AND e.valuenum IS NOT NULL ORDER BY e.valuenum DESC LIMIT 1",
        """
when did patient {patient} have the highest {lab}?
at what time was the maximum {lab} value of patient {patient} measured?
time of peak {lab}, patient {patient}
give the date and time at which {lab} was highest in patient {patient}
on which date and time did {lab} reach its top in patient {patient}?
""",
    ),
    answerable(
        "mean-lab-in-year",
        "join",
        "lab year",
        "SELECT AVG(e.valuenum) FROM labevents AS e JOIN d_labitems AS d ON d.itemid = e.itemid WHERE d.label = :lab AND strftime('%Y', e.charttime) = :year",
        """
what was the average {lab} over all results in {year}?
mean of every {lab} value measured in {year}
compute the average {lab} for {year}
average {lab}, all patients, {year}
in {year}, what did {lab} results average across the hospital?
""",
    ),
    answerable(
        "lab-this-month",
        "join",
        "patient lab",
        "SELECT COUNT(*) > 0 FROM labevents AS e JOIN d_labitems AS d ON d.itemid = e.itemid WHERE e.subject_id = :patient AND d.label = :lab AND strftime('%Y-%m', e.charttime) = '2100-12'",
        """
has {lab} been measured in patient {patient} this month?
did patient {patient} have a {lab} test this month?
is there a {lab} result of patient {patient} from this month?
tell me whether {lab} was taken in patient {patient} since the start of this month
patient {patient}: any {lab} this month, yes or no?
""",
    ),
    answerable(
        "lab-range-in-admission",
        "join",
        "hadm_lab",
        "SELECT MAX(e.valuenum) - MIN(e.valuenum) FROM labevents AS e JOIN d_labitems AS d ON d.itemid = e.itemid WHERE e.hadm_id = :hadm AND d.label = :lab",
        """
what is the difference between the highest and the lowest {lab} in admission {hadm}?
range of {lab} during hospital admission {hadm}, as maximum minus minimum
compute the maximum minus the minimum {lab} of admission {hadm}
by how much do the highest and lowest {lab} of admission {hadm} differ?
spread from lowest to highest {lab}, admission {hadm}
""",
    ),
    answerable(
        "gender-with-organism",
        "join",
        "gender organism",
        "SELECT COUNT(DISTINCT m.subject_id) FROM microbiologyevents AS m JOIN patients AS p ON p.subject_id = m.subject_id WHERE p.gender = :gender AND m.org_name = :organism",
        """
how many {gender} patients had {organism} found in microbiology?
count the {gender} patients with a growth of {organism}
number of {gender} patients positive for {organism}
in how many different {gender} patients was {organism} detected?
organism {organism}, {gender}: how many patients?
""",
    ),
    answerable(
        "specimens-of-type",
        "join",
        "type specimen",
        "SELECT COUNT(*) FROM microbiologyevents AS m JOIN admissions AS a ON a.hadm_id = m.hadm_id WHERE a.admission_type = :type AND m.spec_type_desc = :specimen",
        """
how many {specimen} specimens were tested in microbiology during {type} admissions?
count the microbiology records of {specimen} specimens in {type} admissions
number of {specimen} specimens examined at {type} admissions
in {type} admissions, how often was a {specimen} specimen sent to microbiology?
{type} admissions, specimen {specimen}: how many microbiology records?
""",
    ),
    answerable(
        "dead-with-organism",
        "join",
        "organism",
        "SELECT COUNT(DISTINCT p.subject_id) FROM microbiologyevents AS m JOIN patients AS p ON p.subject_id = m.subject_id WHERE m.org_name = :organism AND p.dod IS NOT NULL",
        """
how many patients with {organism} in microbiology have died?
count the deceased patients in whom {organism} was found
number of patients positive for {organism} who have a date of death
of the patients with growth of {organism}, how many are dead by now?
{organism} found and patient died at some time: how many patients?
""",
    ),
    answerable(
        "lab-change-in-admission",
        "harder",
        "hadm_lab",
        "SELECT (SELECT e.valuenum FROM labevents AS e JOIN d_labitems AS d ON d.itemid = e.itemid WHERE e.hadm_id = :hadm AND d.label = :lab AND e.valuenum IS NOT NULL ORDER BY e.charttime DESC LIMIT 1) - (SELECT e.valuenum FROM labevents AS e JOIN d_labitems AS d ON d.itemid = e.itemid WHERE e.hadm_id = :hadm AND d.label = :lab AND e.valuenum IS NOT NULL ORDER BY e.charttime LIMIT 1)",
        """
by how much did {lab} change from the first to the last value of admission {hadm}?
change in {lab} over hospital admission {hadm}, last minus first value
compute the last minus the first {lab} in admission {hadm}
how far did {lab} move between the first and the last measurement in admission {hadm}?
admission {hadm}: difference in {lab}, last value less first value
""",
    ),
    answerable(
        "mean-lab-with-diagnosis",
        "harder",
        "lab diagnosis",
        "SELECT AVG(e.valuenum) FROM labevents AS e JOIN d_labitems AS l ON l.itemid = e.itemid WHERE l.label = :lab AND e.hadm_id IN (SELECT x.hadm_id FROM diagnoses_icd AS x JOIN d_icd_diagnoses AS d ON d.icd_code = x.icd_code WHERE d.long_title = :diagnosis)",
        """
what is the average {lab} over admissions with {diagnosis}?
mean of the {lab} values in admissions coded with {diagnosis}
compute the average {lab} result where the admission has the diagnosis {diagnosis}
what does {lab} average in hospital admissions with {diagnosis}?
average {lab}, admissions with {diagnosis}
""",
    ),
    answerable(
        "gender-above",
        "harder",
        "gender lab_above",
        "SELECT COUNT(DISTINCT e.subject_id) FROM labevents AS e JOIN d_labitems AS d ON d.itemid = e.itemid JOIN patients AS p ON p.subject_id = e.subject_id WHERE p.gender = :gender AND d.label = :lab AND e.valuenum > :threshold",
        """
how many {gender} patients ever had {lab} above {threshold}?
count the {gender} patients with any {lab} value greater than {threshold}
number of {gender} patients whose {lab} went over {threshold}
in how many different {gender} patients was {lab} higher than {threshold} at some time?
{lab} > {threshold}, {gender}: how many patients?
""",
    ),
    answerable(
        "top-lab-patients",
        "harder",
        "k lab",
        "SELECT e.subject_id FROM labevents AS e JOIN d_labitems AS d ON d.itemid = e.itemid WHERE d.label = :lab GROUP BY e.subject_id ORDER BY MAX(e.valuenum) DESC LIMIT :k",
        """
which {k} patients had the highest {lab} values?
list the {k} patient ids with the top {lab} peaks
{k} patients with the highest maximum {lab}
name the {k} patients whose highest {lab} value is the largest
find the {k} patients with the greatest {lab} ever measured
""",
    ),
    answerable(
        "positive-share",
        "harder",
        "specimen",
        "SELECT 100.0 * SUM(org_name IS NOT NULL) / COUNT(*) FROM microbiologyevents WHERE spec_type_desc = :specimen",
        """
what percentage of {specimen} specimens in microbiology grew an organism?
percent of microbiology records of {specimen} specimens with an organism
of all {specimen} specimens tested, what percent were positive for some organism?
compute the percentage of {specimen} specimens with growth
{specimen} specimens in microbiology: percentage with any organism
""",
    ),
)
