"""Unanswerable templates: worded like answerable ones, but about something not in the data."""

from sentinel_sql.hospital.templates.template import unanswerable

# ruff: noqa: E501

TEMPLATES = (
    # attribute-not-stored: the thing is in the data, this property of it isn't
    unanswerable(
        "ethnicity-of-patient",
        "attribute-not-stored",
        "patient",
        "patients and admissions hold no ethnicity",
        "ethnicity; race",
        """
what is the ethnicity of patient {patient}?
which ethnicity is noted for patient {patient}?
ethnicity of patient {patient}
give me the recorded ethnicity of patient {patient}
look up the ethnicity of the person with patient id {patient}
""",
    ),
    unanswerable(
        "religion-of-admission",
        "attribute-not-stored",
        "hadm",
        "admissions hold language and marital status, but no religion",
        "religion",
        """
what religion is recorded for hospital admission {hadm}?
which religion does the patient of admission {hadm} have?
religion on admission {hadm}
tell me the religion noted at hospital admission {hadm}
i need to know the patient's religion for admission {hadm}
""",
    ),
    unanswerable(
        "patients-of-blood-group",
        "attribute-not-stored",
        "gender",
        "no table holds a blood group",
        "blood group; blood type",
        """
how many {gender} patients in the database have blood group a?
count the {gender} patients with blood group o
number of {gender} patients on record with blood group b
what is the number of patients who are {gender} and have blood group ab?
tell me how many of our {gender} patients have blood group o
""",
    ),
    unanswerable(
        "birthplace-of-patient",
        "attribute-not-stored",
        "patient",
        "patients hold the date of birth, but no place",
        "birthplace; city; country",
        """
where was patient {patient} born?
what is the place of birth of patient {patient}?
place of birth, patient {patient}
look up the city in which patient {patient} was born
i need patient {patient}'s place of birth
""",
    ),
    unanswerable(
        "cause-of-death",
        "attribute-not-stored",
        "dead",
        "the date of death is stored, its cause isn't, and no diagnosis is marked as one",
        "cause of death; death certificate",
        """
what did patient {patient} die of?
what is the cause of death of patient {patient}?
cause of death, patient {patient}
look up the cause from which patient {patient} passed away
of which illness did patient {patient} die?
""",
    ),
    unanswerable(
        "place-of-late-death",
        "attribute-not-stored",
        "gender",
        "a death outside the hospital has a date, but no place",
        "place of death; at home",
        """
how many {gender} patients died at home after they had left the hospital?
count the {gender} patients whose place of death was their own home
number of {gender} patients who passed away at home
how many of the {gender} patients died at home, as far as we know?
{gender} patients who died in their own home: how many?
""",
    ),
    unanswerable(
        "occupation-of-patient",
        "attribute-not-stored",
        "patient",
        "no table holds an occupation",
        "occupation; employer",
        """
what is the occupation of patient {patient}?
what does patient {patient} do for a living?
occupation of patient {patient}
look up the job that patient {patient} had before admission
which occupation is noted for patient {patient}?
""",
    ),
    unanswerable(
        "policy-of-admission",
        "attribute-not-stored",
        "hadm",
        "the insurance's kind is stored, its policy number isn't",
        "policy; claim",
        """
what insurance policy number covered hospital admission {hadm}?
which policy number is recorded for the insurance of admission {hadm}?
insurance policy number of admission {hadm}
tell me the policy number of the insurance for hospital admission {hadm}
admission {hadm} was under which insurance policy number?
""",
    ),
    unanswerable(
        "smokers-of-insurance",
        "attribute-not-stored",
        "insurance",
        "packs a day are stored nowhere; a diagnosis of dependence says nothing of how much",
        "packs; pack years",
        """
how many patients with {insurance} insurance smoke more than one pack a day?
count the patients under {insurance} insurance who smoke two packs a day
number of {insurance} insured patients with more than ten pack years
with {insurance} as their insurance, how many different patients smoke a pack a day?
{insurance} insurance, over twenty pack years: how many patients?
""",
    ),
    unanswerable(
        "height-of-patient",
        "attribute-not-stored",
        "icu_patient",
        "weight is charted, height isn't",
        "height; bmi",
        """
what was the last height of patient {patient}?
what is the most recent height charted for patient {patient}?
latest height, patient {patient}
give me the newest height value of patient {patient}
patient {patient}: what was the height at the last observation?
""",
    ),
    unanswerable(
        "prescriber-of-drug",
        "attribute-not-stored",
        "patient_drug",
        "prescriptions hold no person who ordered them",
        "prescriber; doctor; provider",
        """
which doctor last prescribed {drug} to patient {patient}?
who wrote the first {drug} prescription of patient {patient}?
prescribing doctor of {drug}, patient {patient}
give the name of the doctor in patient {patient}'s latest {drug} order
who ordered {drug} for patient {patient} the last time?
""",
    ),
    unanswerable(
        "indication-of-drug",
        "attribute-not-stored",
        "patient_drug",
        "prescriptions hold no indication, and aren't linked to a diagnosis",
        "indication; reason",
        """
for what indication was {drug} prescribed to patient {patient}?
what is the indication of {drug} for patient {patient}?
indication of {drug}, patient {patient}
look up the reason for which patient {patient} got {drug}
why, by indication, was {drug} ordered for patient {patient}?
""",
    ),
    unanswerable(
        "nurse-of-drug",
        "attribute-not-stored",
        "patient_drug",
        "no table names who gave a drug",
        "nurse; caregiver; staff",
        """
which nurse last gave {drug} to patient {patient}?
who was the nurse that gave patient {patient} the first {drug}?
nurse who gave {drug}, patient {patient}
give the name of the nurse for patient {patient}'s latest {drug}
tell me which nurse handed {drug} to patient {patient} the last time
""",
    ),
    unanswerable(
        "maker-of-drug",
        "attribute-not-stored",
        "drug",
        "prescriptions name the drug, not who makes it",
        "manufacturer; brand",
        """
which manufacturer makes the {drug} that is prescribed here?
what is the manufacturer of the {drug} in our prescriptions?
manufacturer, {drug}
look up the manufacturer from whom {drug} is bought
which company do the doses of {drug} come from?
""",
    ),
    unanswerable(
        "batch-of-drug",
        "attribute-not-stored",
        "drug",
        "prescriptions hold no batch and no expiry date",
        "batch; expiry; lot number",
        """
how many prescriptions of {drug} came from an expired batch?
count all {drug} prescriptions from the newest batch
number of {drug} orders by batch
how many times was {drug} prescribed out of a recalled batch?
{drug}: total number of batches used in prescriptions
""",
    ),
    unanswerable(
        "reaction-to-drug",
        "attribute-not-stored",
        "drug",
        "what a drug did to a patient isn't recorded",
        "adverse reaction; side effect; allergy",
        """
how many patients had an adverse reaction to {drug}?
count the distinct patients who got a rash from {drug}
number of patients with a reaction after a {drug} prescription
in how many different patients was {drug} stopped because of a side effect?
{drug}: how many patients, with an allergic reaction to it?
""",
    ),
    unanswerable(
        "refused-drug",
        "attribute-not-stored",
        "patient_drug",
        "orders are stored, doses that were refused or left out aren't",
        "refused; missed dose",
        """
how many doses of {drug} has patient {patient} refused?
did patient {patient} refuse {drug} at any time?
is {drug} among the doses that patient {patient} missed?
tell me whether patient {patient} ever refused to take {drug}
patient {patient}: was {drug} refused, yes or no?
""",
    ),
    unanswerable(
        "reference-range",
        "attribute-not-stored",
        "lab",
        "results have a value and a unit, but no reference range",
        "reference range; normal range; ref_range",
        """
in what range is {lab} reported as normal by our lab?
what is the reference range of {lab} results?
reference range of {lab}
look up the normal range that the lab gives for {lab}
which reference range do {lab} values have?
""",
    ),
    unanswerable(
        "technician-of-lab",
        "attribute-not-stored",
        "patient_lab",
        "results don't say who measured or checked them",
        "technician; analyst; validated",
        """
which technician did the last {lab} test of patient {patient}?
who measured the most recent {lab} of patient {patient} in the lab?
technician of last {lab}, patient {patient}
give the name of the person who ran patient {patient}'s latest {lab} measurement
by whom was {lab} last taken from patient {patient}?
""",
    ),
    unanswerable(
        "turnaround-of-lab",
        "attribute-not-stored",
        "lab year",
        "a result has one time, not when it was ordered and when reported",
        "ordertime; reporttime; storetime",
        """
what was the average time from order to report of {lab} in {year}?
mean waiting time for every {lab} result of {year}
compute the average turnaround of {lab} for {year}
average turnaround of {lab}, all patients, {year}
in {year}, how long did {lab} results take on average from order to report?
""",
    ),
    unanswerable(
        "site-of-draw",
        "attribute-not-stored",
        "patient_lab",
        "results don't say from where on the body blood was drawn",
        "puncture site; draw site; left arm",
        """
from which arm was the first {lab} of patient {patient} drawn?
at which puncture site was {lab} last taken in patient {patient}?
draw site of last {lab}, patient {patient}
give me the arm used for patient {patient}'s newest {lab} sample
patient {patient}: from where on the body was {lab} taken at the last measurement?
""",
    ),
    unanswerable(
        "resistance-of-organism",
        "attribute-not-stored",
        "organism",
        "microbiology holds the organism, but no susceptibility testing",
        "susceptibility; interpretation; ab_name",
        """
how many patients had {organism} that was not susceptible to gentamicin?
count the distinct patients with a gentamicin sensitive growth of {organism}
number of patients positive for {organism} with susceptibility to linezolid
in how many different patients was {organism} sensitive to linezolid?
organism {organism}: to which antibiotic was it susceptible most often?
""",
    ),
    unanswerable(
        "operator-of-procedure",
        "attribute-not-stored",
        "patient_procedure",
        "procedures hold no person who did them",
        "surgeon; operator",
        """
who did the last {procedure} on patient {patient}?
which surgeon most recently performed {procedure} on patient {patient}?
surgeon for {procedure}, patient {patient}
give the name of the operator at patient {patient}'s latest {procedure}
by whom was {procedure} performed on patient {patient} the last time?
""",
    ),
    unanswerable(
        "duration-of-procedure",
        "attribute-not-stored",
        "patient_procedure",
        "procedures have one time, no start and end",
        "duration; endtime",
        """
how many minutes did patient {patient}'s last {procedure} take?
for how long was patient {patient} in {procedure} the most recent time?
duration of {procedure} in minutes, patient {patient}
give the start and the end of patient {patient}'s latest {procedure}
what is the longest that one {procedure} of patient {patient} took, in minutes?
""",
    ),
    unanswerable(
        "complication-of-procedure",
        "attribute-not-stored",
        "procedure year",
        "procedures aren't linked to what followed from them",
        "complication rate; adverse event",
        """
how many times did {procedure} lead to a complication in {year}?
count every {procedure} recorded in {year} that had a complication
number of {procedure} procedures with complications during {year}
in {year}, how often was the procedure {procedure} broken off?
{procedure}, {year}: share that went without complications
""",
    ),
    unanswerable(
        "anesthesia-of-procedure",
        "attribute-not-stored",
        "procedure",
        "procedures hold no anesthesia",
        "anesthesia; sedation",
        """
how many patients have undergone {procedure} under general anesthesia?
count the distinct patients who had {procedure} with local anesthesia
number of patients with the procedure {procedure} without any anesthesia
{procedure}: how many different patients had it done under anesthesia?
on how many individual patients was {procedure} performed under regional anesthesia?
""",
    ),
    unanswerable(
        "onset-of-diagnosis",
        "attribute-not-stored",
        "patient_diagnosis",
        "diagnoses have a code and a time, no onset of symptoms",
        "onset; first symptom",
        """
when did patient {patient} have the first symptoms of {diagnosis}?
at what time did {diagnosis} begin to trouble patient {patient}, before it was recorded?
onset of {diagnosis}, patient {patient}
give the date on which patient {patient} first felt symptoms of {diagnosis}
since when does patient {patient} have symptoms of {diagnosis}?
""",
    ),
    unanswerable(
        "family-diagnosis",
        "attribute-not-stored",
        "patient diagnosis",
        "diagnoses are of the patient only",
        "family history; relative; mother",
        """
has the mother of patient {patient} ever been diagnosed with {diagnosis}?
does patient {patient} have a family history of {diagnosis}?
is {diagnosis} among the diagnoses of patient {patient}'s father?
tell me whether any relative of patient {patient} was ever given the diagnosis {diagnosis}
patient {patient}: any record of {diagnosis} in the family, yes or no?
""",
    ),
    unanswerable(
        "bed-of-stay",
        "attribute-not-stored",
        "stay",
        "stays hold care units, no beds",
        "bed; bed number",
        """
what was the bed number of icu stay {stay}?
in which bed did icu stay {stay} begin?
first bed, icu stay {stay}
tell me the bed where icu stay {stay} started
icu stay {stay}: which bed was it?
""",
    ),
    unanswerable(
        "visitors-of-stay",
        "table-not-stored",
        "stay",
        "visits by family aren't recorded",
        "visitor; visit",
        """
how many visitors were recorded in icu stay {stay}?
count the family visits of icu stay {stay}
number of visitors, icu stay {stay}
how many visits did the nurses note during icu stay {stay}?
icu stay {stay}: how many visitors in all?
""",
    ),
    # table-not-stored: nothing of the kind is in the data
    unanswerable(
        "notes-of-admission",
        "table-not-stored",
        "hadm",
        "there are no notes",
        "note; progress note; report",
        """
how many progress notes were written for hospital admission {hadm}?
count the notes of admission {hadm}
number of nursing notes, admission {hadm}
how many pages does the discharge letter of admission {hadm} have?
tell me the number of progress notes written during hospital admission {hadm}
""",
    ),
    unanswerable(
        "imaging-of-patient",
        "table-not-stored",
        "patient",
        "there is no imaging: a procedure code doesn't hold what was seen",
        "x-ray; radiology; finding",
        """
when did patient {patient} last have a chest x-ray?
what is the finding of the most recent chest x-ray of patient {patient}?
result of last x-ray, patient {patient}
give the date and time at which patient {patient} had the latest chest x-ray
at what time was an x-ray last read for patient {patient}?
""",
    ),
    unanswerable(
        "vaccines-of-patient",
        "table-not-stored",
        "patient",
        "there are no vaccinations",
        "vaccine; vaccination; immunization",
        """
how many vaccinations has patient {patient} had?
count all recorded vaccinations of patient {patient}
number of vaccinations, patient {patient}
how many vaccine doses were given to patient {patient}?
tell me the total number of vaccinations patient {patient} has received
""",
    ),
    unanswerable(
        "allergies-of-patient",
        "table-not-stored",
        "patient drug",
        "there is no list of allergies",
        "allergy; allergies",
        """
has patient {patient} an allergy to {drug} on record?
does patient {patient} have an allergy against {drug}?
is {drug} among the allergies of patient {patient}?
tell me whether patient {patient} ever reported an allergy to {drug}
patient {patient}: any {drug} allergy, yes or no?
""",
    ),
    unanswerable(
        "appointments-of-patient",
        "table-not-stored",
        "discharged",
        "there are no outpatient appointments",
        "appointment; clinic visit",
        """
how many outpatient appointments does patient {patient} have?
count the appointments that patient {patient} kept after the last discharge
number of missed appointments, patient {patient}
how often has patient {patient} been to an outpatient appointment?
when was patient {patient}'s last outpatient appointment?
""",
    ),
    unanswerable(
        "staff-on-ward",
        "table-not-stored",
        "ward",
        "there are no staff and no rosters",
        "nurse; roster; shift",
        """
how many nurses are in {ward} right now?
count the nurses currently on shift in the care unit {ward}
number of nurses in {ward} at the moment
for the handover: how many nurses are on duty in {ward} now?
{ward}: current number of nurses per patient
""",
    ),
    unanswerable(
        "free-beds-in-unit",
        "table-not-stored",
        "icu",
        "units have no number of beds",
        "bed; capacity",
        """
how many beds are currently free in {icu}?
count the beds in {icu} that are not taken
number of empty beds in {icu} at this moment
right now, how many more patients could {icu} take?
free beds, care unit {icu}: how many?
""",
    ),
    unanswerable(
        "meals-of-patient",
        "table-not-stored",
        "present",
        "there are no meals or diets",
        "meal; diet",
        """
how many meals has patient {patient} had since admission?
count the meals ordered for patient {patient}, that is for this admission
number of meals not eaten, patient {patient}
patient {patient}: how many diet orders are still open?
tell me how many of patient {patient}'s meals haven't been eaten
""",
    ),
    unanswerable(
        "consents-of-procedure",
        "table-not-stored",
        "patient_procedure",
        "there are no consents",
        "consent; signature",
        """
when did patient {patient} last sign a consent for {procedure}?
at what time was the consent to {procedure} most recently signed by patient {patient}?
time of consent for {procedure}, patient {patient}
give the time at which patient {patient} agreed to the latest {procedure}
how many times has patient {patient} signed a consent for {procedure}?
""",
    ),
    unanswerable(
        "complaints-of-insurance",
        "table-not-stored",
        "insurance year",
        "there are no complaints or surveys",
        "complaint; satisfaction; survey",
        """
how many complaints did patients with {insurance} insurance make in {year}?
count the complaints of {insurance} insured patients in {year}
what was the average satisfaction of patients under {insurance} insurance in {year}?
mean satisfaction, insurance {insurance}, {year}
how satisfied were {insurance} insured patients on average in {year}?
""",
    ),
    unanswerable(
        "payments-of-admission",
        "table-not-stored",
        "hadm",
        "costs are stored, payments aren't",
        "payment; paid; invoice",
        """
how much of the cost of hospital admission {hadm} has been paid?
how much did the insurance pay for admission {hadm} in all?
total payment, admission {hadm}
add up the payments made for hospital admission {hadm}
give the sum still unpaid for admission {hadm}
""",
    ),
    unanswerable(
        "equipment-of-stay",
        "table-not-stored",
        "stay",
        "there are no devices with serial numbers",
        "serial number; infusion pump",
        """
which infusion pump was used in icu stay {stay}?
list the different infusion pumps of icu stay {stay}
pump serial numbers, icu stay {stay}
name each pump attached during icu stay {stay}
what devices did icu stay {stay} have? list the serial numbers
""",
    ),
    unanswerable(
        "genes-of-patients",
        "table-not-stored",
        "gender",
        "there are no genetic findings",
        "gene; mutation; genotype",
        """
how many {gender} patients have a factor v leiden mutation?
count the {gender} patients with a known gene mutation
number of {gender} patients tested for a mutation
in how many different {gender} patients was a gene mutation detected?
gene mutation found, {gender}: how many patients?
""",
    ),
    unanswerable(
        "trials-of-diagnosis",
        "table-not-stored",
        "diagnosis",
        "enrolment in studies isn't recorded",
        "trial; study; enrolled",
        """
how many patients with {diagnosis} are enrolled in a trial?
count the distinct patients with {diagnosis} who take part in a study
number of patients with {diagnosis} in the intervention arm of a trial
{diagnosis}: how many different patients agreed to a study?
tell me how many of our {diagnosis} patients have been randomized
""",
    ),
    # other-department-or-hospital: the data are this hospital's inpatients only
    unanswerable(
        "birth-ward",
        "other-department-or-hospital",
        "month",
        "there is no maternity department in the data",
        "maternity; newborn; delivery room",
        """
how many newborns came to the maternity ward in {month}?
count the newborns of {month}
number of times someone entered the delivery room in {month}
in {month}, how many births were recorded?
{month}, maternity: how many arrivals?
""",
    ),
    unanswerable(
        "stays-in-other-hospital",
        "other-department-or-hospital",
        "patient",
        "admissions are to this hospital only",
        "other hospital; hospital_id",
        """
how many times was patient {patient} admitted to another hospital?
count the admissions of patient {patient} in other hospitals
number of admissions elsewhere, patient {patient}
how often has patient {patient} been admitted to a hospital other than ours?
tell me the number of admissions patient {patient} has had at the city's other hospital
""",
    ),
    unanswerable(
        "origin-hospital-name",
        "other-department-or-hospital",
        "hadm",
        "a transfer's origin is a kind, not a name",
        "hospital name; sending hospital",
        """
from which hospital, by name, was the patient of admission {hadm} sent?
what is the name of the hospital that sent us admission {hadm}?
name of the sending hospital, admission {hadm}
in which other hospital was the patient before admission {hadm}?
tell me the hospital from where the patient was brought in hospital admission {hadm}
""",
    ),
    unanswerable(
        "rehab-after-discharge",
        "other-department-or-hospital",
        "destination",
        "what happens where a patient goes isn't recorded",
        "rehab stay; facility record",
        """
how many days did patients stay on average at {destination} after the discharge?
average stay at {destination} after leaving us, in days
compute the mean number of days spent at {destination} once discharged there
after being discharged to {destination}, how long did patients remain there on average?
length of time at {destination} following a discharge: average days
""",
    ),
    unanswerable(
        "dialysis-center",
        "other-department-or-hospital",
        "patient year",
        "sessions at an outside center aren't recorded",
        "outpatient; dialysis center",
        """
how many times was patient {patient} at the outpatient dialysis center in {year}?
count the {year} sessions of patient {patient} at the outpatient dialysis center
number of outpatient sessions of patient {patient} during {year}
in {year}, how often did patient {patient} go to the dialysis center as an outpatient?
patient {patient}: outpatient dialysis in {year}, how many times?
""",
    ),
    unanswerable(
        "pharmacy-stock",
        "other-department-or-hospital",
        "drug",
        "the pharmacy's stock isn't in the data",
        "stock; pharmacy",
        """
how many packs of {drug} are in the pharmacy's stock?
count all {drug} packs in the pharmacy
number of {drug} packs in stock
how many times did the pharmacy run out of {drug}?
{drug}: total number of units left in the pharmacy
""",
    ),
    unanswerable(
        "family-doctor-drug",
        "other-department-or-hospital",
        "patient_drug",
        "what was taken before admission isn't recorded",
        "home medication; family doctor",
        """
when did patient {patient}'s family doctor first prescribe {drug}?
what dose of {drug} did patient {patient} take at home before being admitted?
home dose of {drug}, patient {patient}
give me the {drug} dose that patient {patient} had from the family doctor
patient {patient}: how much {drug} was taken at home the day before?
""",
    ),
    unanswerable(
        "compare-other-hospital",
        "other-department-or-hospital",
        "type",
        "no other hospital's figures are in the data",
        "benchmark; national",
        """
what is the national average age at {type} admissions?
average patient age over all {type} admissions of the other hospitals
compute the mean age for admissions of type {type} across the country
how old are patients on average at a {type} admission in the neighboring hospital?
national mean age, admission type {type}
""",
    ),
    # future: after the database's clock
    unanswerable(
        "discharge-of-inpatient",
        "future",
        "present",
        "the admission is open, and no planned discharge is stored",
        "SELECT 1 FROM admissions WHERE subject_id = :patient AND dischtime > '2100-12-31 23:59:00'; planned; expected",
        """
when will patient {patient} be discharged?
what is the date on which patient {patient} goes home?
planned discharge time, patient {patient}
give the date and time patient {patient} is going to leave
on which day will patient {patient}'s open admission end?
""",
    ),
    unanswerable(
        "admissions-next-month",
        "future",
        "next_month",
        "the data end at the clock",
        "SELECT 1 FROM admissions WHERE admittime > '2100-12-31 23:59:00'; forecast; expected",
        """
how many patients will be admitted in {next_month}?
count the different patients expected during {next_month}
number of distinct patients with a planned admission in {next_month}
{next_month}: how many patients are going to come in?
in {next_month}, how many individual patients will be admitted to the hospital?
""",
    ),
    unanswerable(
        "deaths-next-year",
        "future",
        "gender",
        "the data end at the clock",
        "SELECT 1 FROM patients WHERE dod > '2100-12-31 23:59:00'; forecast; predicted",
        """
how many {gender} patients will have died by the end of next year?
count the {gender} patients whose date of death is going to be next year
number of deaths of {gender} patients next year
for the mortality report: how many {gender} patients pass away next year?
tell me how many of our {gender} patients are going to die
""",
    ),
    unanswerable(
        "next-lab",
        "future",
        "present lab",
        "no tests are scheduled in the data",
        "SELECT 1 FROM labevents WHERE charttime > '2100-12-31 23:59:00'; scheduled",
        """
when is {lab} measured next in patient {patient}?
what is the time of the following {lab} test of patient {patient}, after the latest?
time of next {lab}, patient {patient}
give the date and time of patient {patient}'s {lab} measurement tomorrow
at what time will patient {patient} have {lab} taken again?
""",
    ),
    unanswerable(
        "next-procedure",
        "future",
        "present procedure",
        "no procedures are planned in the data",
        "SELECT 1 FROM procedures_icd WHERE charttime > '2100-12-31 23:59:00'; planned; scheduled",
        """
when is patient {patient} going to have {procedure}?
at what time tomorrow is {procedure} done on patient {patient}?
next time of {procedure}, patient {patient}
give the time for which patient {patient}'s coming {procedure} is planned
what is the earliest time next week that patient {patient} undergoes {procedure}?
""",
    ),
    unanswerable(
        "cost-next-year",
        "future",
        "insurance next_year",
        "the data end at the clock",
        "SELECT 1 FROM cost WHERE chargetime > '2100-12-31 23:59:00'; budget; forecast",
        """
what is the total cost of admissions with {insurance} insurance in {next_year}?
sum of all {next_year} charges for {insurance} insured admissions
how much is charged in {next_year} for admissions under {insurance} insurance?
add up the {next_year} costs where the insurance is {insurance}
total {next_year} cost, insurance {insurance}
""",
    ),
    unanswerable(
        "unit-tomorrow",
        "future",
        "present",
        "no transfers are planned in the data",
        "SELECT 1 FROM transfers WHERE intime > '2100-12-31 23:59:00'; planned",
        """
what is the next care unit that patient {patient} is going to?
in which care unit is patient {patient} tomorrow?
next care unit, patient {patient}
look up the care unit to which patient {patient} moves next
where in the house is patient {patient} tomorrow, by care unit?
""",
    ),
    unanswerable(
        "stays-next-year",
        "future",
        "icu next_year",
        "the data end at the clock",
        "SELECT 1 FROM icustays WHERE intime > '2100-12-31 23:59:00'; forecast",
        """
how many icu stays start in {icu} in {next_year}?
count the stays of {next_year} whose first care unit is {icu}
number of {next_year} icu stays that begin in {icu}
in {next_year}, how many icu stays have {icu} as the first unit?
icu stays starting in {icu} during {next_year}: how many?
""",
    ),
    # clinical-advice: a judgement, not a fact of the data
    unanswerable(
        "right-dose",
        "clinical-advice",
        "patient drug",
        "what dose would be right is a judgement, not stored",
        "recommended dose; guideline",
        """
what is the best dose of {drug} for patient {patient}?
what dose of {drug} does patient {patient} need?
right {drug} dose, patient {patient}
give me the dose to put in patient {patient}'s next order of {drug}
patient {patient}: how much {drug} is enough?
""",
    ),
    unanswerable(
        "safe-drug",
        "clinical-advice",
        "patient drug",
        "whether a drug is safe is a judgement, not stored",
        "contraindication; safe; safety",
        """
is {drug} safe for patient {patient}?
can patient {patient} be given {drug} without risk?
is {drug} a good choice among the drugs for patient {patient}?
tell me whether patient {patient} tolerates {drug} well enough to go on
patient {patient}: is {drug} contraindicated, yes or no?
""",
    ),
    unanswerable(
        "needs-procedure",
        "clinical-advice",
        "patient procedure",
        "whether a procedure is needed is a judgement, not stored",
        "recommendation; indicated; needed",
        """
does patient {patient} need {procedure}?
is it time for patient {patient} to undergo {procedure}?
is {procedure} the right procedure for patient {patient}?
tell me whether {procedure} is worth doing on patient {patient}
patient {patient}: is {procedure} indicated, yes or no?
""",
    ),
    unanswerable(
        "best-drug-for-diagnosis",
        "clinical-advice",
        "diagnosis",
        "what is prescribed is stored, what works best isn't",
        "effectiveness; recommended",
        """
what are the drugs that work best in admissions with {diagnosis}?
list the drugs of first choice where the admission has {diagnosis}
most effective drug, admissions with {diagnosis}
name the drugs best ordered in admissions coded with {diagnosis}
in hospital admissions with {diagnosis}, which drug has the fewest side effects?
""",
    ),
    unanswerable(
        "ready-for-discharge",
        "clinical-advice",
        "present",
        "whether someone is well enough is a judgement, not stored",
        "readiness; fit for discharge",
        """
is patient {patient} well enough to leave the hospital?
has patient {patient} recovered far enough for the admission to end?
is patient {patient} stable enough to go home?
tell me whether patient {patient} is ready for discharge right now
does patient {patient} have to stay in the hospital any longer?
""",
    ),
    unanswerable(
        "how-often-to-check",
        "clinical-advice",
        "patient lab",
        "how often a test is due is a judgement, not stored",
        "interval; monitoring plan",
        """
how many times a week does {lab} need to be measured in patient {patient}?
how often is a {lab} test called for in patient {patient}?
right number of {lab} tests, patient {patient}
is it enough for patient {patient} to have {lab} tested once a day?
patient {patient}, {lab}: how many more results are needed?
""",
    ),
    unanswerable(
        "explain-value",
        "clinical-advice",
        "patient_lab",
        "why a value is as it is isn't stored",
        "explanation; interpretation",
        """
why was the highest {lab} value of patient {patient} so far off?
what explains the maximum {lab} ever measured in patient {patient}?
reason for the peak {lab}, patient {patient}
give me the reason for the top {lab} result of patient {patient}
what made {lab} change in patient {patient}?
""",
    ),
    unanswerable(
        "prognosis",
        "clinical-advice",
        "patient_diagnosis",
        "a prognosis is a judgement, not stored",
        "prognosis; life expectancy",
        """
how long does patient {patient} have to live with {diagnosis}?
what are the chances of patient {patient} with {diagnosis}?
prognosis of {diagnosis}, patient {patient}
give the life expectancy of patient {patient} after the {diagnosis} entry
how likely is patient {patient} to recover from {diagnosis}?
""",
    ),
    # outside-the-data: the question takes for granted what the data don't hold
    unanswerable(
        "gender-of-absent-patient",
        "outside-the-data",
        "absent_patient",
        "no patient has this id, so nothing of that patient can be told",
        "SELECT 1 FROM patients WHERE subject_id = :patient",
        """
what is the gender of patient {patient}?
is patient {patient} male or female?
gender of patient {patient}
give me the recorded gender of patient {patient}
which gender is noted for patient {patient}?
""",
    ),
    unanswerable(
        "birth-of-absent-patient",
        "outside-the-data",
        "absent_patient",
        "no patient has this id, so nothing of that patient can be told",
        "SELECT 1 FROM patients WHERE subject_id = :patient",
        """
what is the date of birth of patient {patient}?
when was patient {patient} born?
date of birth, patient {patient}
look up the date on which patient {patient} was born
i need patient {patient}'s date of birth
""",
    ),
    unanswerable(
        "insurance-of-absent-admission",
        "outside-the-data",
        "absent_hadm",
        "no admission has this id, so nothing of it can be told",
        "SELECT 1 FROM admissions WHERE hadm_id = :hadm",
        """
what insurance covered hospital admission {hadm}?
which insurance is recorded for admission {hadm}?
insurance of admission {hadm}
tell me the insurance for hospital admission {hadm}
admission {hadm} was under which insurance?
""",
    ),
    unanswerable(
        "unit-of-absent-stay",
        "outside-the-data",
        "absent_stay",
        "no ICU stay has this id, so nothing of it can be told",
        "SELECT 1 FROM icustays WHERE stay_id = :stay",
        """
what was the first care unit of icu stay {stay}?
in which unit did icu stay {stay} begin?
first care unit, icu stay {stay}
tell me where icu stay {stay} started
icu stay {stay}: which care unit came first?
""",
    ),
    unanswerable(
        "lab-of-absent-patient",
        "outside-the-data",
        "absent_patient lab",
        "no patient has this id, so nothing of that patient can be told",
        "SELECT 1 FROM patients WHERE subject_id = :patient",
        """
what was the last {lab} value of patient {patient}?
what is the most recent {lab} result for patient {patient}?
latest {lab}, patient {patient}
give me the newest {lab} value measured in patient {patient}
patient {patient}: how high was {lab} at the last measurement?
""",
    ),
    unanswerable(
        "drug-of-absent-patient",
        "outside-the-data",
        "absent_patient drug",
        "no patient has this id, so nothing of that patient can be told",
        "SELECT 1 FROM patients WHERE subject_id = :patient",
        """
what was the last dose of {drug} prescribed to patient {patient}?
what dose had the most recent {drug} prescription of patient {patient}?
latest {drug} dose, patient {patient}
give me the dose in patient {patient}'s newest order of {drug}
patient {patient}: how much {drug} was ordered the last time?
""",
    ),
    unanswerable(
        "admissions-before-data",
        "outside-the-data",
        "past_year type",
        "the data begin in 2099; how many came before isn't in them",
        "SELECT 1 FROM admissions WHERE strftime('%Y', admittime) <= :past_year",
        """
how many {type} admissions were there in {past_year}?
count the {type} admissions of {past_year}
number of {type} hospital admissions that began in {past_year}
in {past_year}, how many admissions had the type {type}?
tell me the count of admissions of type {type} for {past_year}
""",
    ),
    unanswerable(
        "lab-before-data",
        "outside-the-data",
        "lab past_year",
        "the data begin in 2099; what was measured before isn't in them",
        "SELECT 1 FROM labevents WHERE strftime('%Y', charttime) <= :past_year",
        """
what was the average {lab} over all results in {past_year}?
mean of every {lab} value measured in {past_year}
compute the average {lab} for {past_year}
average {lab}, all patients, {past_year}
in {past_year}, what did {lab} results average across the hospital?
""",
    ),
    unanswerable(
        "drugs-before-data",
        "outside-the-data",
        "drug past_year",
        "the data begin in 2099; what was ordered before isn't in them",
        "SELECT 1 FROM prescriptions WHERE strftime('%Y', starttime) <= :past_year",
        """
how many patients were started on {drug} in {past_year}?
count the distinct patients with a {drug} prescription beginning in {past_year}
number of patients prescribed {drug} in {past_year}
in {past_year}, how many different patients got {drug}?
{drug}, {past_year}: number of patients
""",
    ),
    # ambiguous-referent: whom or what the question means isn't said
    unanswerable(
        "last-dose-of-someone",
        "ambiguous-referent",
        "drug",
        "which patient is meant isn't said",
        "referent: the patient",
        """
what was the last dose of {drug} prescribed to him?
what dose had the most recent {drug} prescription of this patient?
latest {drug} dose, same patient as before
give me the dose in her newest order of {drug}
the patient from yesterday: how much {drug} was ordered the last time?
""",
    ),
    unanswerable(
        "lab-of-someone",
        "ambiguous-referent",
        "lab",
        "which patient is meant isn't said",
        "referent: the patient",
        """
what was the first {lab} value of this patient?
what is the earliest {lab} result on record for her?
first {lab} value, the patient we talked about
give me the value of the first {lab} measured in him
that patient again: how high was {lab} at the very first measurement?
""",
    ),
    unanswerable(
        "admission-of-someone",
        "ambiguous-referent",
        "type",
        "which patient is meant isn't said",
        "referent: the patient",
        """
when was he last admitted as {type}?
what was the time of her most recent {type} admission?
last {type} admission time, same patient
give the date and time of that patient's latest {type} admission
at what time did the other patient's newest {type} admission begin?
""",
    ),
    unanswerable(
        "unit-of-someone",
        "ambiguous-referent",
        "icu",
        "which stay is meant isn't said",
        "referent: the ICU stay",
        """
how many hours did the other icu stay in {icu} last?
what was the length of that icu stay in {icu} in hours?
duration of the same icu stay in {icu}, in hours
compute the hours from in to out for his icu stay in {icu}
this icu stay in {icu}: how long was it, in hours?
""",
    ),
    unanswerable(
        "diagnosis-of-someone",
        "ambiguous-referent",
        "diagnosis",
        "which patient is meant isn't said",
        "referent: the patient",
        """
has he ever been diagnosed with {diagnosis}?
does the same patient have a diagnosis of {diagnosis}?
is {diagnosis} among her diagnoses too?
tell me whether this patient was ever given the diagnosis {diagnosis}
the next one on the list: any record of {diagnosis}, yes or no?
""",
    ),
    unanswerable(
        "that-lab-of-patient",
        "ambiguous-referent",
        "patient",
        "which lab test is meant isn't said",
        "referent: the lab test",
        """
what was the highest value of that lab in patient {patient}?
what is the maximum of it ever measured in patient {patient}?
peak of the same lab, patient {patient}
give me the top result of the other test for patient {patient}
how high did it get in patient {patient}?
""",
    ),
    unanswerable(
        "that-drug-of-patients",
        "ambiguous-referent",
        "year gender",
        "which drug is meant isn't said",
        "referent: the drug",
        """
how many {gender} patients were started on that drug in {year}?
count the distinct {gender} patients with a prescription of the other drug beginning in {year}
number of {gender} patients prescribed it in {year}
in {year}, how many different {gender} patients got the same drug as before?
this drug, {year}, {gender}: number of patients
""",
    ),
)
