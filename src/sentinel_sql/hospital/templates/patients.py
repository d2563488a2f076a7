"""Answerable templates over patients and admissions."""

from sentinel_sql.hospital.templates.template import answerable

# ruff: noqa: E501

TEMPLATES = (
    answerable(
        "patients-of-gender",
        "single",
        "gender",
        "SELECT COUNT(*) FROM patients WHERE gender = :gender",
        """
how many {gender} patients are in the database?
count the {gender} patients
number of {gender} patients on record
what is the number of patients who are {gender}?
tell me how many of our patients are {gender}
""",
    ),
    answerable(
        "gender-of-patient",
        "single",
        "patient",
        "SELECT gender FROM patients WHERE subject_id = :patient",
        """
what is the gender of patient {patient}?
is patient {patient} male or female?
gender of patient {patient}
give me the recorded gender of patient {patient}
which gender is noted for patient {patient}?
""",
    ),
    answerable(
        "birth-of-patient",
        "single",
        "patient",
        "SELECT dob FROM patients WHERE subject_id = :patient",
        """
what is the date of birth of patient {patient}?
when was patient {patient} born?
date of birth, patient {patient}
look up the date on which patient {patient} was born
i need patient {patient}'s date of birth
""",
    ),
    answerable(
        "born-before",
        "single",
        "birth_year",
        "SELECT COUNT(*) FROM patients WHERE strftime('%Y', dob) < :birth_year",
        """
how many patients were born before {birth_year}?
count patients with a date of birth before the year {birth_year}
number of patients born earlier than {birth_year}
of all patients, how many have a birth year before {birth_year}?
give the count of people born before {birth_year}
""",
    ),
    answerable(
        "death-of-patient",
        "single",
        "dead",
        "SELECT dod FROM patients WHERE subject_id = :patient",
        """
when did patient {patient} die?
what is the date of death of patient {patient}?
date of death, patient {patient}
look up when patient {patient} passed away
on which day did patient {patient} die?
""",
    ),
    answerable(
        "deaths-in-year",
        "single",
        "year",
        "SELECT COUNT(*) FROM patients WHERE strftime('%Y', dod) = :year",
        """
how many patients died in {year}?
count the patients whose date of death is in {year}
number of deaths in {year}
for the mortality report: how many patients passed away in {year}, in hospital or outside?
tell me how many of our patients died during {year}
""",
    ),
    answerable(
        "alive-of-gender",
        "single",
        "gender",
        "SELECT COUNT(*) FROM patients WHERE gender = :gender AND dod IS NULL",
        """
how many {gender} patients have no date of death on record?
count the {gender} patients who are not known to have died
number of {gender} patients still alive according to the records
how many of the {gender} patients are alive, as far as we know?
{gender} patients without a recorded death: how many?
""",
    ),
    answerable(
        "oldest-of-gender",
        "single",
        "gender",
        "SELECT subject_id FROM patients WHERE gender = :gender ORDER BY dob, subject_id LIMIT 1",
        """
which {gender} patient has the earliest date of birth?
give the id of the {gender} patient who was born first
patient id of the {gender} patient with the earliest birth date
who, by patient id, was born earliest among the {gender} patients?
find the {gender} patient with the oldest date of birth
""",
    ),
    answerable(
        "admissions-in-year",
        "single",
        "year type",
        "SELECT COUNT(*) FROM admissions WHERE strftime('%Y', admittime) = :year AND admission_type = :type",
        """
how many {type} admissions were there in {year}?
count the {type} admissions of {year}
number of {type} hospital admissions that began in {year}
in {year}, how many admissions had the type {type}?
tell me the count of admissions of type {type} for {year}
""",
    ),
    answerable(
        "patients-admitted-in-month",
        "single",
        "month",
        "SELECT COUNT(DISTINCT subject_id) FROM admissions WHERE strftime('%Y-%m', admittime) = :month",
        """
how many patients were admitted in {month}?
count the different patients admitted during {month}
number of distinct patients with an admission in {month}
{month}: how many patients came in?
in {month}, how many individual patients were admitted to the hospital?
""",
    ),
    answerable(
        "admissions-from-origin",
        "single",
        "origin",
        "SELECT COUNT(*) FROM admissions WHERE admission_location = :origin",
        """
how many admissions came from {origin}?
count all admissions with the admission location {origin}
number of admissions with origin {origin}
how often was {origin} the place a patient was admitted from?
admissions where the patient came via {origin}: how many?
""",
    ),
    answerable(
        "patients-of-insurance",
        "single",
        "insurance",
        "SELECT COUNT(DISTINCT subject_id) FROM admissions WHERE insurance = :insurance",
        """
how many patients were ever admitted with {insurance} insurance?
count the patients who have had an admission under {insurance} insurance
number of distinct patients insured by {insurance}
with {insurance} as their insurance, how many different patients have we admitted?
{insurance} insurance: number of patients, not of admissions
""",
    ),
    answerable(
        "insurance-of-admission",
        "single",
        "hadm",
        "SELECT insurance FROM admissions WHERE hadm_id = :hadm",
        """
what insurance covered hospital admission {hadm}?
which insurance is recorded for admission {hadm}?
insurance of admission {hadm}
tell me the insurance for hospital admission {hadm}
admission {hadm} was under which insurance?
""",
    ),
    answerable(
        "first-admission-of-patient",
        "single",
        "returning",
        "SELECT MIN(admittime) FROM admissions WHERE subject_id = :patient",
        """
when was patient {patient} first admitted?
what was the time of the first hospital admission of patient {patient}?
first admission time, patient {patient}
give the date and time patient {patient} was admitted for the first time
at what time did patient {patient}'s first hospital admission begin?
""",
    ),
    answerable(
        "last-admission-of-patient",
        "single",
        "returning",
        "SELECT MAX(admittime) FROM admissions WHERE subject_id = :patient",
        """
when was patient {patient} last admitted?
what was the time of the most recent admission of patient {patient}?
last admission time, patient {patient}
give the date and time of patient {patient}'s latest admission
at what time did the newest hospital admission of patient {patient} begin?
""",
    ),
    answerable(
        "admissions-of-patient",
        "single",
        "patient",
        "SELECT COUNT(*) FROM admissions WHERE subject_id = :patient",
        """
how many times was patient {patient} admitted?
count the hospital admissions of patient {patient}
number of admissions, patient {patient}
how often has patient {patient} been admitted to the hospital?
tell me the number of hospital admissions patient {patient} has had
""",
    ),
    answerable(
        "admissions-of-patient-in-year",
        "single",
        "patient year",
        "SELECT COUNT(*) FROM admissions WHERE subject_id = :patient AND strftime('%Y', admittime) = :year",
        """
how many times was patient {patient} admitted in {year}?
count the {year} admissions of patient {patient}
number of admissions of patient {patient} during {year}
in {year}, how often was patient {patient} admitted to the hospital?
patient {patient}: admissions in {year}, how many?
""",
    ),
    answerable(
        "inpatients-of-insurance",
        "single",
        "insurance",
        "SELECT COUNT(DISTINCT subject_id) FROM admissions WHERE dischtime IS NULL AND insurance = :insurance",
        """
how many patients with {insurance} insurance are currently in the hospital?
count the current inpatients whose insurance is {insurance}
{insurance} patients not yet discharged: how many?
number of patients under {insurance} insurance who are still admitted
right now, how many {insurance} insured patients are staying in the hospital?
""",
    ),
    answerable(
        "patient-is-here",
        "single",
        "patient",
        "SELECT COUNT(*) > 0 FROM admissions WHERE subject_id = :patient AND dischtime IS NULL",
        """
is patient {patient} currently in the hospital?
has patient {patient} an admission that is still open?
is patient {patient} still admitted?
tell me whether patient {patient} is an inpatient right now
does patient {patient} have a stay in the hospital that has not ended yet?
""",
    ),
    answerable(
        "destination-of-last-discharge",
        "single",
        "discharged",
        "SELECT discharge_location FROM admissions WHERE subject_id = :patient AND dischtime IS NOT NULL ORDER BY dischtime DESC LIMIT 1",
        """
where was patient {patient} discharged to the last time?
what was the discharge location of the most recent discharge of patient {patient}?
last discharge location, patient {patient}
look up where patient {patient} went at the latest discharge
to which location did patient {patient}'s last discharge go?
""",
    ),
    answerable(
        "discharges-to",
        "single",
        "destination year",
        "SELECT COUNT(*) FROM admissions WHERE discharge_location = :destination AND strftime('%Y', dischtime) = :year",
        """
how many discharges to {destination} were there in {year}?
count the admissions that ended in {year} with discharge to {destination}
number of {year} discharges with location {destination}
in {year}, how many times was a patient discharged to {destination}?
discharge location {destination}, discharged in {year}: how many admissions?
""",
    ),
    answerable(
        "died-in-hospital",
        "single",
        "year",
        "SELECT COUNT(*) FROM admissions WHERE discharge_location = 'died' AND strftime('%Y', dischtime) = :year",
        """
how many admissions ended in {year} with the patient dying in the hospital?
count the hospital stays of which the discharge location is died and that ended in {year}
in-hospital deaths in {year}
how many admissions ended with the death of the patient in {year}?
number of {year} discharges recorded as died
""",
    ),
    answerable(
        "language-of-admission",
        "single",
        "hadm",
        "SELECT language FROM admissions WHERE hadm_id = :hadm",
        """
what language is recorded for hospital admission {hadm}?
which language does the patient of admission {hadm} speak?
language on admission {hadm}
tell me the language noted at hospital admission {hadm}
i need to know the patient's language for admission {hadm}
""",
    ),
    answerable(
        "speakers-of-language",
        "single",
        "language",
        "SELECT COUNT(DISTINCT subject_id) FROM admissions WHERE language = :language",
        """
how many patients speak {language}?
count the distinct patients whose language is {language}
number of {language} speaking patients
for the interpreters: how many different patients have {language} as their language?
tell me how many of our patients are {language} speakers
""",
    ),
    answerable(
        "marital-at-last-admission",
        "single",
        "returning",
        "SELECT marital_status FROM admissions WHERE subject_id = :patient ORDER BY admittime DESC LIMIT 1",
        """
what was the marital status of patient {patient} at the last admission?
marital status of patient {patient} on the most recent admission
which marital status was noted when patient {patient} was last admitted?
give the marital status recorded at patient {patient}'s latest admission
at the newest admission of patient {patient}, what is the marital status?
""",
    ),
    answerable(
        "age-by-type",
        "single",
        "type",
        "SELECT AVG(age) FROM admissions WHERE admission_type = :type",
        """
what is the average age at {type} admissions?
average patient age over all {type} admissions
compute the mean age for admissions of type {type}
how old are patients on average at a {type} admission?
mean age, admission type {type}
""",
    ),
    answerable(
        "oldest-age-of-insurance",
        "single",
        "insurance type",
        "SELECT MAX(age) FROM admissions WHERE insurance = :insurance AND admission_type = :type",
        """
what is the highest age at a {type} admission under {insurance} insurance?
maximum age among {insurance} insured {type} admissions
how old was the oldest patient at a {type} admission with {insurance} insurance?
give me the top age for {type} admissions paid by {insurance}
among {type} admissions with {insurance} insurance, find the greatest age
""",
    ),
    answerable(
        "admissions-by-insurance",
        "single",
        "year",
        "SELECT insurance, COUNT(*) FROM admissions WHERE strftime('%Y', admittime) = :year GROUP BY insurance ORDER BY insurance",
        """
how many admissions did each insurance have in {year}?
list every insurance with its number of admissions in {year}
admissions of {year} by insurance
break down the {year} admissions by insurance
for each insurance, count the hospital admissions that began in {year}
""",
    ),
    answerable(
        "length-of-admission",
        "single",
        "closed_hadm",
        "SELECT julianday(dischtime) - julianday(admittime) FROM admissions WHERE hadm_id = :hadm",
        """
how many days did hospital admission {hadm} last?
what was the length of admission {hadm} in days?
days from admission to discharge for admission {hadm}
compute the duration of hospital admission {hadm} in days
admission {hadm}: how long was it, in days?
""",
    ),
    answerable(
        "origin-of-admission",
        "single",
        "hadm",
        "SELECT admission_location FROM admissions WHERE hadm_id = :hadm",
        """
where did the patient of admission {hadm} come from?
what is the admission location of hospital admission {hadm}?
admission location, admission {hadm}
through which location was admission {hadm} admitted?
tell me from where the patient was admitted in hospital admission {hadm}
""",
    ),
    answerable(
        "no-marital-status",
        "single",
        "type",
        "SELECT COUNT(*) FROM admissions WHERE marital_status IS NULL AND admission_type = :type",
        """
how many {type} admissions have no marital status on record?
count {type} admissions where the marital status is missing
number of {type} admissions without a marital status
for how many {type} admissions was the marital status not noted?
{type} admissions, marital status missing: how many?
""",
    ),
    answerable(
        "busiest-origin",
        "single",
        "year",
        "SELECT admission_location FROM admissions WHERE strftime('%Y', admittime) = :year GROUP BY admission_location ORDER BY COUNT(*) DESC LIMIT 1",
        """
what was the most common admission location in {year}?
from where did most admissions of {year} come?
most frequent admission location, {year}
find the admission location with the most admissions in {year}
which admission location was seen most often in {year}?
""",
    ),
    answerable(
        "admitted-more-than",
        "single",
        "times",
        "SELECT COUNT(*) FROM (SELECT subject_id FROM admissions GROUP BY subject_id HAVING COUNT(*) > :times)",
        """
how many patients were admitted more than {times} times?
count the patients with more than {times} hospital admissions
number of patients who have over {times} admissions
how many patients have an admission count above {times}?
patients with more than {times} admissions: how many are there?
""",
    ),
    answerable(
        "patients-over-age",
        "single",
        "age year",
        "SELECT COUNT(DISTINCT subject_id) FROM admissions WHERE age > :age AND strftime('%Y', admittime) = :year",
        """
how many patients older than {age} were admitted in {year}?
count distinct patients aged over {age} at an admission in {year}
number of patients above {age} years admitted in {year}
in {year}, how many different patients over the age of {age} came in?
patients over {age} admitted during {year}, counted once each
""",
    ),
    answerable(
        "admissions-this-year-to-now",
        "single",
        "type insurance",
        "SELECT COUNT(*) FROM admissions WHERE admission_type = :type AND insurance = :insurance AND strftime('%Y', admittime) = '2100'",
        """
how many {type} admissions under {insurance} insurance have there been this year?
this year's {type} admissions with {insurance} insurance: how many?
count {insurance} insured {type} admissions since the start of this year
so far this year, how many {type} admissions had {insurance} insurance?
number of {type} admissions this year where insurance is {insurance}
""",
    ),
    answerable(
        "admissions-of-gender",
        "join",
        "gender year",
        "SELECT COUNT(*) FROM admissions AS a JOIN patients AS p ON p.subject_id = a.subject_id WHERE p.gender = :gender AND strftime('%Y', a.admittime) = :year",
        """
how many admissions of {gender} patients were there in {year}?
count the {year} admissions where the patient is {gender}
number of hospital admissions of {gender} patients in {year}
in {year}, how many times was a {gender} patient admitted?
{gender} patients, all admissions of {year}: how many?
""",
    ),
    answerable(
        "inpatients-of-gender",
        "join",
        "gender",
        "SELECT COUNT(DISTINCT a.subject_id) FROM admissions AS a JOIN patients AS p ON p.subject_id = a.subject_id WHERE p.gender = :gender AND a.dischtime IS NULL",
        """
how many {gender} patients are currently in the hospital?
count the {gender} patients who haven't been discharged yet
number of current {gender} inpatients
how many {gender} patients are still admitted right now?
{gender} patients staying in the hospital at the moment: how many?
""",
    ),
    answerable(
        "gender-and-insurance",
        "join",
        "gender insurance",
        "SELECT COUNT(DISTINCT a.subject_id) FROM admissions AS a JOIN patients AS p ON p.subject_id = a.subject_id WHERE p.gender = :gender AND a.insurance = :insurance",
        """
how many {gender} patients had an admission with {insurance} insurance?
count distinct {gender} patients insured by {insurance}
number of {gender} patients under {insurance} insurance
with {insurance} insurance, how many different {gender} patients were admitted?
{gender} and {insurance} insured: how many patients?
""",
    ),
    answerable(
        "dead-of-insurance",
        "join",
        "insurance",
        "SELECT COUNT(DISTINCT p.subject_id) FROM patients AS p JOIN admissions AS a ON a.subject_id = p.subject_id WHERE a.insurance = :insurance AND p.dod IS NOT NULL",
        """
how many patients who were ever under {insurance} insurance have died?
count the deceased patients with an admission under {insurance} insurance
number of patients with {insurance} insurance who have a date of death
of the patients admitted with {insurance} insurance, how many are dead by now?
{insurance} insured patients who died, at the hospital or later: how many?
""",
    ),
    answerable(
        "age-of-gender",
        "join",
        "gender year",
        "SELECT AVG(a.age) FROM admissions AS a JOIN patients AS p ON p.subject_id = a.subject_id WHERE p.gender = :gender AND strftime('%Y', a.admittime) = :year",
        """
what was the average age at the admissions of {gender} patients in {year}?
mean age over {year} admissions of {gender} patients
compute the average age of {gender} patients across all admissions in {year}
how old were {gender} patients on average when admitted in {year}?
average age, {gender}, admissions {year}
""",
    ),
    answerable(
        "birth-by-admission",
        "join",
        "hadm",
        "SELECT p.dob FROM patients AS p JOIN admissions AS a ON a.subject_id = p.subject_id WHERE a.hadm_id = :hadm",
        """
what is the date of birth of the patient with hospital admission {hadm}?
when was the patient of admission {hadm} born?
date of birth for the patient of hospital admission {hadm}
look up the birth date of the person admitted under admission {hadm}
admission {hadm}: when was this patient born?
""",
    ),
    answerable(
        "gender-by-admission",
        "join",
        "hadm",
        "SELECT p.gender FROM patients AS p JOIN admissions AS a ON a.subject_id = p.subject_id WHERE a.hadm_id = :hadm",
        """
what is the gender of the patient with hospital admission {hadm}?
is the patient of admission {hadm} male or female?
patient gender for hospital admission {hadm}
which gender has the patient who was admitted under admission {hadm}?
tell me the gender of the person behind admission {hadm}
""",
    ),
    answerable(
        "died-after-discharge-to",
        "join",
        "destination",
        "SELECT COUNT(DISTINCT p.subject_id) FROM patients AS p JOIN admissions AS a ON a.subject_id = p.subject_id WHERE a.discharge_location = :destination AND p.dod > a.dischtime",
        """
how many patients died after a discharge to {destination}?
count the patients with a date of death later than a discharge to {destination}
number of patients who were sent to {destination} and passed away afterwards
after being discharged to {destination}, how many patients died at some later time?
deaths following a discharge to {destination}: how many patients?
""",
    ),
    answerable(
        "gender-from-origin",
        "join",
        "gender origin",
        "SELECT COUNT(*) FROM admissions AS a JOIN patients AS p ON p.subject_id = a.subject_id WHERE p.gender = :gender AND a.admission_location = :origin",
        """
how many admissions of {gender} patients came from {origin}?
count admissions with location {origin} where the patient is {gender}
number of {gender} admissions via {origin}
how often was a {gender} patient admitted from {origin}?
admission location {origin}, {gender} patients only: number of admissions
""",
    ),
    answerable(
        "in-hospital-mortality",
        "harder",
        "type",
        "SELECT 100.0 * SUM(discharge_location = 'died') / COUNT(*) FROM admissions WHERE admission_type = :type AND dischtime IS NOT NULL",
        """
what percentage of completed {type} admissions ended with the discharge location died?
in-hospital mortality of finished {type} admissions, in percent
of the {type} admissions that are over, what percent ended in death in the hospital?
compute the percent of closed {type} admissions whose discharge location is died
among completed {type} admissions, which percentage died before leaving?
""",
    ),
    answerable(
        "readmitted-within",
        "harder",
        "window",
        "SELECT COUNT(DISTINCT a.subject_id) FROM admissions AS a JOIN admissions AS b ON b.subject_id = a.subject_id AND b.admittime > a.dischtime WHERE julianday(b.admittime) - julianday(a.dischtime) <= :window",
        """
how many patients were readmitted within {window} days of a discharge?
count the patients with a new admission at most {window} days after a discharge
number of patients who came back to the hospital inside {window} days
how many patients have two admissions no more than {window} days apart, from discharge to next admission?
{window}-day readmissions: how many different patients?
""",
    ),
    answerable(
        "days-between-first-two",
        "harder",
        "returning",
        "SELECT julianday((SELECT admittime FROM admissions WHERE subject_id = :patient ORDER BY admittime LIMIT 1 OFFSET 1)) - julianday((SELECT admittime FROM admissions WHERE subject_id = :patient ORDER BY admittime LIMIT 1))",
        """
how many days passed between the first and the second admission time of patient {patient}?
days from patient {patient}'s first admission to the second admission
compute the gap in days between the admission times of the first two admissions of patient {patient}
patient {patient}: how long, in days, from first to second admission?
what is the time in days between admittance one and two of patient {patient}?
""",
    ),
    answerable(
        "admitted-in-both-years",
        "harder",
        "gender",
        "SELECT COUNT(*) FROM patients AS p WHERE p.gender = :gender AND EXISTS (SELECT 1 FROM admissions AS a WHERE a.subject_id = p.subject_id AND strftime('%Y', a.admittime) = '2099') AND EXISTS (SELECT 1 FROM admissions AS a WHERE a.subject_id = p.subject_id AND strftime('%Y', a.admittime) = '2100')",
        """
how many {gender} patients were admitted both last year and this year?
count the {gender} patients with an admission in 2099 and another in 2100
number of {gender} patients who came in last year and again this year
which number of {gender} patients had admissions in each of 2099 and 2100?
{gender} patients admitted in both 2099 and 2100: how many?
""",
    ),
)
