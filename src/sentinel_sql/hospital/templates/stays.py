"""Answerable templates over ICU stays and transfers between care units."""

from sentinel_sql.hospital.templates.template import answerable

# ruff: noqa: E501

TEMPLATES = (
    answerable(
        "icu-stays-of-patient",
        "single",
        "icu_patient",
        "SELECT COUNT(*) FROM icustays WHERE subject_id = :patient",
        """
how many icu stays has patient {patient} had?
count the icu stays of patient {patient}
number of icu stays, patient {patient}
how many times was patient {patient} in an icu?
tell me the number of intensive care stays of patient {patient}
""",
    ),
    answerable(
        "icu-stays-in-unit",
        "single",
        "icu year",
        "SELECT COUNT(*) FROM icustays WHERE first_careunit = :icu AND strftime('%Y', intime) = :year",
        """
how many icu stays started in {icu} in {year}?
count the stays of {year} whose first care unit was {icu}
number of {year} icu stays that began in {icu}
in {year}, how many icu stays had {icu} as the first unit?
icu stays starting in {icu} during {year}: how many?
""",
    ),
    answerable(
        "patients-in-unit",
        "single",
        "icu",
        "SELECT COUNT(DISTINCT subject_id) FROM icustays WHERE first_careunit = :icu",
        """
how many patients had an icu stay that began in {icu}?
count the different patients whose icu stay started in {icu}
number of distinct patients with {icu} as first care unit of a stay
how many individual patients were first cared for in {icu} during an icu stay?
{icu} as first unit of the icu stay: how many patients, counted once each?
""",
    ),
    answerable(
        "in-unit-now",
        "single",
        "icu",
        "SELECT COUNT(*) FROM icustays WHERE last_careunit = :icu AND outtime IS NULL",
        """
how many icu stays are currently open in {icu}?
count the icu stays in {icu} that have not ended
number of patients lying in {icu} at this moment
right now, how many icu patients have {icu} as their latest unit and no out time?
open stays, last care unit {icu}: how many?
""",
    ),
    answerable(
        "first-unit-of-stay",
        "single",
        "stay",
        "SELECT first_careunit FROM icustays WHERE stay_id = :stay",
        """
what was the first care unit of icu stay {stay}?
in which unit did icu stay {stay} begin?
first care unit, icu stay {stay}
tell me where icu stay {stay} started
icu stay {stay}: which care unit came first?
""",
    ),
    answerable(
        "first-icu-time",
        "single",
        "icu_patient",
        "SELECT MIN(intime) FROM icustays WHERE subject_id = :patient",
        """
when did the first icu stay of patient {patient} begin?
at what time was patient {patient} first brought into an icu?
first icu in time, patient {patient}
give the start time of patient {patient}'s earliest icu stay
when was patient {patient} in intensive care for the first time?
""",
    ),
    answerable(
        "hours-of-stay",
        "single",
        "closed_stay",
        "SELECT (julianday(outtime) - julianday(intime)) * 24 FROM icustays WHERE stay_id = :stay",
        """
how many hours did icu stay {stay} last?
what was the length of icu stay {stay} in hours?
duration of icu stay {stay}, in hours
compute the hours from in to out for icu stay {stay}
icu stay {stay}: how long was it, in hours?
""",
    ),
    answerable(
        "mean-days-in-unit",
        "single",
        "icu",
        "SELECT AVG(julianday(outtime) - julianday(intime)) FROM icustays WHERE first_careunit = :icu",
        """
what is the average length in days of finished icu stays that began in {icu}?
mean days per icu stay with {icu} as first unit
compute the average icu stay in days for stays starting in {icu}
how many days does an icu stay that starts in {icu} last on average?
average stay length, first unit {icu}, in days
""",
    ),
    answerable(
        "longest-in-unit",
        "single",
        "icu",
        "SELECT stay_id FROM icustays WHERE first_careunit = :icu AND outtime IS NOT NULL ORDER BY julianday(outtime) - julianday(intime) DESC LIMIT 1",
        """
which finished icu stay that began in {icu} was the longest?
give the stay id of the longest completed icu stay with first unit {icu}
longest ended stay that started in {icu}, by stay id
find the icu stay starting in {icu} that took the most time until its end
stay id of the longest completed stay whose first unit is {icu}
""",
    ),
    answerable(
        "stays-that-moved",
        "single",
        "icu",
        "SELECT COUNT(*) FROM icustays WHERE first_careunit = :icu AND last_careunit <> first_careunit",
        """
how many icu stays began in {icu} but ended in another unit?
count the stays that started in {icu} and have a different last care unit
number of icu stays moved from {icu} to some other icu
of the stays beginning in {icu}, how many have another unit as the last one?
first unit {icu}, last unit something else: how many icu stays?
""",
    ),
    answerable(
        "last-unit-of-patient",
        "single",
        "icu_patient",
        "SELECT last_careunit FROM icustays WHERE subject_id = :patient ORDER BY intime DESC LIMIT 1",
        """
what was the last care unit of patient {patient}'s most recent icu stay?
in which unit did the latest icu stay of patient {patient} end?
last care unit of the newest icu stay, patient {patient}
for patient {patient}, take the most recent icu stay: which unit was the last?
tell me the final care unit in the latest icu stay of patient {patient}
""",
    ),
    answerable(
        "stays-begun-in-month",
        "single",
        "month",
        "SELECT COUNT(*) FROM icustays WHERE strftime('%Y-%m', intime) = :month",
        """
how many icu stays began in {month}?
count the icu stays with an in time in {month}
number of icu stays started during {month}
{month}: how many icu stays started?
in {month}, how often did an icu stay begin?
""",
    ),
    answerable(
        "transfers-to-ward",
        "single",
        "ward year",
        "SELECT COUNT(*) FROM transfers WHERE careunit = :ward AND eventtype = 'transfer' AND strftime('%Y', intime) = :year",
        """
how many transfers into {ward} were there in {year}?
count the {year} events of type transfer with care unit {ward}
number of transfers to the care unit {ward} in {year}
in {year}, how often was a patient transferred to {ward}?
transfer events to {ward}, {year}: how many?
""",
    ),
    answerable(
        "patients-on-ward",
        "single",
        "ward",
        "SELECT COUNT(DISTINCT subject_id) FROM transfers WHERE careunit = :ward",
        """
how many patients have ever been in the care unit {ward}?
count the different patients who stayed in {ward}
number of distinct patients with {ward} among their care units
at any time, how many individual patients were cared for in {ward}?
{ward}: how many patients passed through, each counted once?
""",
    ),
    answerable(
        "last-ward-of-patient",
        "single",
        "patient",
        "SELECT careunit FROM transfers WHERE subject_id = :patient AND careunit IS NOT NULL ORDER BY intime DESC LIMIT 1",
        """
what is the last care unit that patient {patient} was in?
in which care unit was patient {patient} most recently?
latest care unit, patient {patient}
look up the most recent care unit of patient {patient}
where in the house was patient {patient} last, by care unit?
""",
    ),
    answerable(
        "first-time-on-ward",
        "single",
        "patient_ward",
        "SELECT MIN(intime) FROM transfers WHERE subject_id = :patient AND careunit = :ward",
        """
when did patient {patient} first enter {ward}?
at what time did patient {patient} come to the care unit {ward} for the first time?
first in time of patient {patient} at {ward}
give the time at which patient {patient} first arrived in {ward}
since when had patient {patient} been to {ward}, the first time?
""",
    ),
    answerable(
        "units-of-patient",
        "single",
        "patient",
        "SELECT COUNT(DISTINCT careunit) FROM transfers WHERE subject_id = :patient",
        """
how many different care units has patient {patient} been in?
count the distinct care units of patient {patient}
number of different care units, patient {patient}
in how many separate care units has patient {patient} stayed?
patient {patient} has gone through how many different care units?
""",
    ),
    answerable(
        "on-ward-now",
        "single",
        "ward",
        "SELECT COUNT(DISTINCT subject_id) FROM transfers WHERE careunit = :ward AND outtime IS NULL",
        """
how many patients are in {ward} right now?
count the patients currently in the care unit {ward}
number of patients in {ward} at the moment
for the nurses' handover: how many patients are in {ward} now?
{ward}: current number of patients
""",
    ),
    answerable(
        "emergency-visits",
        "single",
        "month",
        "SELECT COUNT(*) FROM transfers WHERE eventtype = 'ed' AND strftime('%Y-%m', intime) = :month",
        """
how many stays in the emergency department began in {month}?
count the ed events of {month}
number of times someone entered the emergency department in {month}
in {month}, how many ed transfers were recorded?
{month}, emergency department: how many arrivals?
""",
    ),
    answerable(
        "units-of-admission",
        "single",
        "hadm",
        "SELECT DISTINCT careunit FROM transfers WHERE hadm_id = :hadm AND careunit IS NOT NULL ORDER BY careunit",
        """
which care units did the patient of admission {hadm} go through?
list the care units of hospital admission {hadm}
care units during admission {hadm}
name every care unit that appears in hospital admission {hadm}
where was the patient cared for during admission {hadm}? list the units
""",
    ),
    answerable(
        "gender-in-unit",
        "join",
        "gender icu",
        "SELECT COUNT(DISTINCT i.subject_id) FROM icustays AS i JOIN patients AS p ON p.subject_id = i.subject_id WHERE p.gender = :gender AND i.first_careunit = :icu",
        """
how many {gender} patients had an icu stay starting in {icu}?
count distinct {gender} patients whose icu stay began in {icu}
number of {gender} patients with {icu} as first care unit
how many different {gender} patients started an icu stay in {icu}?
{icu} as first unit, {gender} patients: how many?
""",
    ),
    answerable(
        "admissions-of-type-in-unit",
        "join",
        "type icu",
        "SELECT COUNT(DISTINCT a.hadm_id) FROM admissions AS a JOIN icustays AS i ON i.hadm_id = a.hadm_id WHERE a.admission_type = :type AND i.first_careunit = :icu",
        """
how many {type} admissions had an icu stay that began in {icu}?
count the {type} admissions with a stay starting in {icu}
number of {type} hospital admissions that include an icu stay first in {icu}
of the {type} admissions, how many had at least one icu stay beginning in {icu}?
{type} admissions with an icu stay whose first unit is {icu}: how many admissions?
""",
    ),
    answerable(
        "icu-days-by-insurance",
        "join",
        "insurance",
        "SELECT AVG(julianday(i.outtime) - julianday(i.intime)) FROM icustays AS i JOIN admissions AS a ON a.hadm_id = i.hadm_id WHERE a.insurance = :insurance",
        """
what is the average length in days of icu stays under {insurance} insurance?
mean icu stay in days for admissions with {insurance} insurance
compute the average icu days for {insurance} insured admissions
how many days do icu stays last on average when the insurance is {insurance}?
average duration of icu stays, insurance {insurance}, in days
""",
    ),
    answerable(
        "admissions-without-icu",
        "join",
        "type",
        "SELECT COUNT(*) FROM admissions AS a LEFT JOIN icustays AS i ON i.hadm_id = a.hadm_id WHERE a.admission_type = :type AND i.stay_id IS NULL",
        """
how many {type} admissions had no icu stay at all?
count the {type} admissions without any icu stay
number of {type} admissions that never went to an icu
of all {type} admissions, how many are without a stay in intensive care?
{type} admissions, no icu stay: how many?
""",
    ),
    answerable(
        "destination-after-stay",
        "join",
        "closed_stay",
        "SELECT a.discharge_location FROM admissions AS a JOIN icustays AS i ON i.hadm_id = a.hadm_id WHERE i.stay_id = :stay",
        """
what was the discharge location of the admission with icu stay {stay}?
where was the patient of icu stay {stay} discharged to at the end of that admission?
discharge location for icu stay {stay}
after the admission with icu stay {stay}, to which location did the patient go?
look up the discharge location that belongs to icu stay {stay}
""",
    ),
    answerable(
        "age-in-unit",
        "join",
        "icu",
        "SELECT AVG(a.age) FROM icustays AS i JOIN admissions AS a ON a.hadm_id = i.hadm_id WHERE i.first_careunit = :icu",
        """
what is the average age over the icu stays that began in {icu}?
mean patient age per icu stay with first unit {icu}
compute the average age for stays starting in {icu}, one value a stay
how old, on average, are patients in icu stays that start in {icu}?
average age, icu stays first in {icu}
""",
    ),
    answerable(
        "dead-of-unit",
        "join",
        "icu",
        "SELECT COUNT(DISTINCT p.subject_id) FROM patients AS p JOIN icustays AS i ON i.subject_id = p.subject_id WHERE i.first_careunit = :icu AND p.dod IS NOT NULL",
        """
how many patients with an icu stay begun in {icu} have died, whenever that was?
count the patients who once started an icu stay in {icu} and have a date of death
number of deceased patients among those whose stay began in {icu}
of the patients with {icu} as a first care unit, how many are dead by now?
patients first in {icu} who later died or died there: how many?
""",
    ),
    answerable(
        "icu-now-of-gender",
        "join",
        "gender",
        "SELECT COUNT(DISTINCT i.subject_id) FROM icustays AS i JOIN patients AS p ON p.subject_id = i.subject_id WHERE p.gender = :gender AND i.outtime IS NULL",
        """
how many {gender} patients are in an icu right now?
count the {gender} patients whose icu stay has not ended
number of {gender} patients currently in intensive care
at this moment, how many {gender} patients have an open icu stay?
{gender}, icu stay still running: how many patients?
""",
    ),
    answerable(
        "insurance-on-ward",
        "join",
        "insurance ward",
        "SELECT COUNT(DISTINCT t.subject_id) FROM transfers AS t JOIN admissions AS a ON a.hadm_id = t.hadm_id WHERE a.insurance = :insurance AND t.careunit = :ward",
        """
how many patients were in {ward} during an admission with {insurance} insurance?
count distinct patients in {ward} whose admission was under {insurance} insurance
number of {insurance} insured patients cared for in {ward}
in {ward}, how many different patients had {insurance} insurance?
{ward} with {insurance} insurance: number of patients
""",
    ),
    answerable(
        "oldest-on-ward",
        "join",
        "ward",
        "SELECT MAX(a.age) FROM transfers AS t JOIN admissions AS a ON a.hadm_id = t.hadm_id WHERE t.careunit = :ward",
        """
what is the highest admission age of a patient who was in {ward}?
how old was the oldest patient ever in the care unit {ward}, by age at admission?
maximum age at admission among patients in {ward}
find the top age at admission for care unit {ward}
greatest age at admission, care unit {ward}
""",
    ),
    answerable(
        "several-stays-one-admission",
        "harder",
        "type",
        "SELECT COUNT(*) FROM (SELECT a.hadm_id FROM admissions AS a JOIN icustays AS i ON i.hadm_id = a.hadm_id WHERE a.admission_type = :type GROUP BY a.hadm_id HAVING COUNT(*) > 1)",
        """
how many {type} admissions had more than one icu stay?
count the {type} admissions with at least two icu stays
number of {type} admissions in which the patient returned to an icu
in how many {type} admissions were there several icu stays?
{type} admissions with two or more stays in intensive care: how many?
""",
    ),
    answerable(
        "top-units",
        "harder",
        "k year",
        "SELECT first_careunit FROM icustays WHERE strftime('%Y', intime) = :year GROUP BY first_careunit ORDER BY COUNT(*) DESC LIMIT :k",
        """
which {k} units were the first care unit of most icu stays in {year}?
list the {k} most frequent first care units of the icu stays that began in {year}
top {k} first care units by number of icu stays, {year}
name the {k} units where most icu stays of {year} started
in {year}, what are the {k} commonest first units of icu stays?
""",
    ),
    answerable(
        "hours-to-icu",
        "harder",
        "icu_hadm",
        "SELECT (julianday(MIN(i.intime)) - julianday(a.admittime)) * 24 FROM icustays AS i JOIN admissions AS a ON a.hadm_id = i.hadm_id WHERE a.hadm_id = :hadm",
        """
how many hours after admission did the first icu stay of admission {hadm} begin?
hours from the admission time to the first icu in time in hospital admission {hadm}
compute the delay in hours between admission and first icu stay for admission {hadm}
for admission {hadm}, how long in hours until the patient was first in an icu?
admission {hadm}: hours between being admitted and the start of the first icu stay
""",
    ),
    answerable(
        "share-of-long-stays",
        "harder",
        "icu days",
        "SELECT 100.0 * SUM(julianday(outtime) - julianday(intime) > :days) / COUNT(*) FROM icustays WHERE first_careunit = :icu AND outtime IS NOT NULL",
        """
what percentage of finished icu stays begun in {icu} lasted more than {days} days?
percent of completed stays starting in {icu} that are longer than {days} days
of the ended icu stays with first unit {icu}, what percent took over {days} days?
compute the percentage of finished stays from {icu} above {days} days
stays begun in {icu} and over: percentage longer than {days} days
""",
    ),
)
