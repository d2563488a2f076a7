"""Answerable templates over charted signs, fluids given and fluids lost."""

from sentinel_sql.hospital.templates.template import answerable

# ruff: noqa: E501

TEMPLATES = (
    answerable(
        "item-of-vital",
        "single",
        "vital",
        "SELECT itemid FROM d_items WHERE label = :vital AND linksto = 'chartevents'",
        """
what is the item id of {vital} in the chart dictionary?
which itemid stands for the charted item {vital}?
chart item id, {vital}
look up the item id of the charted sign {vital}
give me the itemid under which {vital} is charted
""",
    ),
    answerable(
        "label-of-item",
        "single",
        "chart_item",
        "SELECT label FROM d_items WHERE itemid = :item",
        """
what charted item has the item id {item}?
what is the label of item {item}?
label of charted item {item}
look up which charted sign {item} stands for
give the name of the item with itemid {item}
""",
    ),
    answerable(
        "abbreviation-of-intake",
        "single",
        "intake_item",
        "SELECT abbreviation FROM d_items WHERE itemid = :item",
        """
what is the abbreviation of item {item}?
which abbreviation does the input item {item} have?
abbreviation, item {item}
look up how item {item} is abbreviated
give the short form stored for item {item}
""",
    ),
    answerable(
        "items-linked-to",
        "single",
        "items_table",
        "SELECT COUNT(*) FROM d_items WHERE linksto = :items_table",
        """
how many items in the dictionary link to {items_table}?
count the dictionary items that belong to {items_table}
number of items linked to {items_table}
in the item dictionary, how many entries point to {items_table}?
items for {items_table}: how many are listed?
""",
    ),
    answerable(
        "chart-rows-of-stay",
        "single",
        "stay",
        "SELECT COUNT(*) FROM chartevents WHERE stay_id = :stay",
        """
how many chart events were recorded in icu stay {stay}?
count the charted observations of icu stay {stay}
number of chart entries, icu stay {stay}
how many observations did the nurses chart during icu stay {stay}?
icu stay {stay}: how many chart events in all?
""",
    ),
    answerable(
        "last-chart-time",
        "single",
        "icu_patient",
        "SELECT MAX(charttime) FROM chartevents WHERE subject_id = :patient",
        """
when was the last observation of patient {patient} charted in an icu?
what is the time of the most recent chart event of patient {patient}?
time of last chart event, patient {patient}
give the date and time of patient {patient}'s latest charted observation
at what time was anything last charted for patient {patient}?
""",
    ),
    answerable(
        "input-events-of-stay",
        "single",
        "stay",
        "SELECT COUNT(*) FROM inputevents WHERE stay_id = :stay",
        """
how many input events were there in icu stay {stay}?
count the input events of icu stay {stay}
number of recorded inputs, icu stay {stay}
how many times was an input recorded during icu stay {stay}?
icu stay {stay}: how many inputs were given?
""",
    ),
    answerable(
        "output-volume-of-stay",
        "single",
        "stay",
        "SELECT SUM(value) FROM outputevents WHERE stay_id = :stay",
        """
what was the total output in icu stay {stay}?
add up all output of icu stay {stay}
total output volume, icu stay {stay}
how much output was recorded in all during icu stay {stay}?
sum of the outputs for icu stay {stay}
""",
    ),
    answerable(
        "last-output-time",
        "single",
        "stay",
        "SELECT MAX(charttime) FROM outputevents WHERE stay_id = :stay",
        """
when was output last recorded in icu stay {stay}?
what is the time of the last output event of icu stay {stay}?
time of last output, icu stay {stay}
give the date and time of the latest output in icu stay {stay}
at what time was an output last noted for icu stay {stay}?
""",
    ),
    answerable(
        "largest-output",
        "single",
        "icu_patient",
        "SELECT MAX(value) FROM outputevents WHERE subject_id = :patient",
        """
what was the largest single output of patient {patient}?
maximum output value recorded for patient {patient}
highest single output, patient {patient}
how large was the biggest output event of patient {patient}?
find the top output value of patient {patient}
""",
    ),
    answerable(
        "last-vital-value",
        "join",
        "patient_vital",
        "SELECT e.valuenum FROM chartevents AS e JOIN d_items AS d ON d.itemid = e.itemid WHERE e.subject_id = :patient AND d.label = :vital AND e.valuenum IS NOT NULL ORDER BY e.charttime DESC LIMIT 1",
        """
what was the last {vital} of patient {patient}?
what is the most recent {vital} charted for patient {patient}?
latest {vital}, patient {patient}
give me the newest {vital} value of patient {patient}
patient {patient}: what was {vital} at the last observation?
""",
    ),
    answerable(
        "first-vital-of-stay",
        "join",
        "stay_vital",
        "SELECT e.valuenum FROM chartevents AS e JOIN d_items AS d ON d.itemid = e.itemid WHERE e.stay_id = :stay AND d.label = :vital AND e.valuenum IS NOT NULL ORDER BY e.charttime LIMIT 1",
        """
what was the first {vital} in icu stay {stay}?
what is the earliest {vital} charted in icu stay {stay}?
first {vital} value, icu stay {stay}
give me the value of the first {vital} in icu stay {stay}
icu stay {stay}: what was {vital} at the very first observation?
""",
    ),
    answerable(
        "highest-vital-of-patient",
        "join",
        "patient_vital",
        "SELECT MAX(e.valuenum) FROM chartevents AS e JOIN d_items AS d ON d.itemid = e.itemid WHERE e.subject_id = :patient AND d.label = :vital",
        """
what was the highest {vital} of patient {patient}?
what is the maximum {vital} ever charted for patient {patient}?
peak {vital}, patient {patient}
give me the top {vital} value of patient {patient}
how high did {vital} go in patient {patient}?
""",
    ),
    answerable(
        "lowest-vital-of-stay",
        "join",
        "stay_vital",
        "SELECT MIN(e.valuenum) FROM chartevents AS e JOIN d_items AS d ON d.itemid = e.itemid WHERE e.stay_id = :stay AND d.label = :vital",
        """
what was the lowest {vital} in icu stay {stay}?
minimum {vital} charted in icu stay {stay}
lowest {vital}, icu stay {stay}
give me the smallest {vital} value of icu stay {stay}
how low did {vital} go during icu stay {stay}?
""",
    ),
    answerable(
        "mean-vital-of-stay",
        "join",
        "stay_vital",
        "SELECT AVG(e.valuenum) FROM chartevents AS e JOIN d_items AS d ON d.itemid = e.itemid WHERE e.stay_id = :stay AND d.label = :vital",
        """
what was the average {vital} in icu stay {stay}?
mean {vital} over icu stay {stay}
compute the average of all {vital} values in icu stay {stay}
average {vital}, icu stay {stay}
over icu stay {stay}, what did {vital} average?
""",
    ),
    answerable(
        "last-time-of-vital",
        "join",
        "patient_vital",
        "SELECT MAX(e.charttime) FROM chartevents AS e JOIN d_items AS d ON d.itemid = e.itemid WHERE e.subject_id = :patient AND d.label = :vital",
        """
when was {vital} last charted for patient {patient}?
what is the time of the most recent {vital} observation of patient {patient}?
time of last {vital}, patient {patient}
give the date and time of patient {patient}'s latest {vital} value
at what time did patient {patient} last have {vital} charted?
""",
    ),
    answerable(
        "vital-readings-above",
        "join",
        "vital_above",
        "SELECT COUNT(*) FROM chartevents AS e JOIN d_items AS d ON d.itemid = e.itemid WHERE d.label = :vital AND e.valuenum > :threshold",
        """
how many {vital} readings were above {threshold}?
count the charted {vital} values greater than {threshold}
number of {vital} observations over {threshold}
how often was {vital} charted higher than {threshold}?
{vital} > {threshold}: how many readings?
""",
    ),
    answerable(
        "vital-patients-above",
        "join",
        "vital_above",
        "SELECT COUNT(DISTINCT e.subject_id) FROM chartevents AS e JOIN d_items AS d ON d.itemid = e.itemid WHERE d.label = :vital AND e.valuenum > :threshold",
        """
how many patients ever had {vital} above {threshold}?
count the patients with at least one {vital} reading greater than {threshold}
number of distinct patients whose {vital} went over {threshold}
in how many different patients was {vital} higher than {threshold} at some time?
{vital} > {threshold}: how many patients, each counted once?
""",
    ),
    answerable(
        "unit-of-vital",
        "join",
        "vital",
        "SELECT DISTINCT e.valueuom FROM chartevents AS e JOIN d_items AS d ON d.itemid = e.itemid WHERE d.label = :vital ORDER BY e.valueuom",
        """
in what unit is {vital} charted?
what is the unit of measurement of {vital} in the chart?
unit of {vital}
look up the unit in which {vital} is charted
which unit do charted {vital} values have?
""",
    ),
    answerable(
        "intake-total-of-stay",
        "join",
        "stay_intake",
        "SELECT SUM(e.totalamount) FROM inputevents AS e JOIN d_items AS d ON d.itemid = e.itemid WHERE e.stay_id = :stay AND d.label = :intake",
        """
how much {intake} was given in total during icu stay {stay}?
add up the amounts of {intake} in icu stay {stay}
total amount of {intake}, icu stay {stay}
what is the sum of {intake} inputs for icu stay {stay}?
icu stay {stay}: total {intake} given
""",
    ),
    answerable(
        "patients-with-intake",
        "join",
        "intake",
        "SELECT COUNT(DISTINCT e.subject_id) FROM inputevents AS e JOIN d_items AS d ON d.itemid = e.itemid WHERE d.label = :intake",
        """
how many patients received {intake} as an input in an icu?
count the distinct patients with {intake} among their inputs
number of icu patients given {intake}
to how many different patients was {intake} given in intensive care?
{intake} as input: how many patients?
""",
    ),
    answerable(
        "times-of-intake",
        "join",
        "intake year",
        "SELECT COUNT(*) FROM inputevents AS e JOIN d_items AS d ON d.itemid = e.itemid WHERE d.label = :intake AND strftime('%Y', e.starttime) = :year",
        """
how many times was {intake} recorded as an input in {year}?
count the {year} input events of {intake}
number of {intake} inputs during {year}
in {year}, how often was {intake} given as an input?
{intake}, {year}: number of input events
""",
    ),
    answerable(
        "largest-intake",
        "join",
        "patient_intake",
        "SELECT MAX(e.totalamount) FROM inputevents AS e JOIN d_items AS d ON d.itemid = e.itemid WHERE e.subject_id = :patient AND d.label = :intake",
        """
what was the largest single amount of {intake} given to patient {patient}?
maximum amount of {intake} in one input of patient {patient}
highest single {intake} input, patient {patient}
how much was the biggest {intake} input of patient {patient}?
find the top amount of {intake} that patient {patient} got at once
""",
    ),
    answerable(
        "last-time-of-intake",
        "join",
        "patient_intake",
        "SELECT MAX(e.starttime) FROM inputevents AS e JOIN d_items AS d ON d.itemid = e.itemid WHERE e.subject_id = :patient AND d.label = :intake",
        """
when was {intake} last given to patient {patient} as an input?
what is the start time of the most recent {intake} input of patient {patient}?
time of last {intake} input, patient {patient}
give the date and time at which patient {patient} last received {intake}
at what time did patient {patient} last get {intake} in the icu?
""",
    ),
    answerable(
        "output-total-of-stay",
        "join",
        "stay_output",
        "SELECT SUM(e.value) FROM outputevents AS e JOIN d_items AS d ON d.itemid = e.itemid WHERE e.stay_id = :stay AND d.label = :output",
        """
how much output came from {output} in total during icu stay {stay}?
add up the output from {output} in icu stay {stay}
total output by {output}, icu stay {stay}
what is the sum of outputs via {output} for icu stay {stay}?
icu stay {stay}: total output of {output}
""",
    ),
    answerable(
        "mean-output-of-patient",
        "join",
        "patient_output",
        "SELECT AVG(e.value) FROM outputevents AS e JOIN d_items AS d ON d.itemid = e.itemid WHERE e.subject_id = :patient AND d.label = :output",
        """
what was the average output from {output} per record for patient {patient}?
mean value of the {output} outputs of patient {patient}
compute the average single output by {output} for patient {patient}
average output via {output}, patient {patient}
how much output by {output} did patient {patient} have on average each time?
""",
    ),
    answerable(
        "outputs-of-stay",
        "join",
        "stay",
        "SELECT DISTINCT d.label FROM outputevents AS e JOIN d_items AS d ON d.itemid = e.itemid WHERE e.stay_id = :stay ORDER BY d.label",
        """
which kinds of output were recorded in icu stay {stay}?
list the different output items of icu stay {stay}
output labels, icu stay {stay}
name each kind of output charted during icu stay {stay}
what outputs did icu stay {stay} have? list the labels
""",
    ),
    answerable(
        "patients-with-output",
        "join",
        "output",
        "SELECT COUNT(DISTINCT e.subject_id) FROM outputevents AS e JOIN d_items AS d ON d.itemid = e.itemid WHERE d.label = :output",
        """
how many patients had output by {output} recorded?
count the distinct patients with {output} among their outputs
number of icu patients with output via {output}
for how many different patients was output from {output} noted?
{output} as output: how many patients?
""",
    ),
    answerable(
        "mean-vital-of-gender",
        "harder",
        "gender vital",
        "SELECT AVG(e.valuenum) FROM chartevents AS e JOIN d_items AS d ON d.itemid = e.itemid JOIN patients AS p ON p.subject_id = e.subject_id WHERE p.gender = :gender AND d.label = :vital",
        """
what is the average {vital} over all readings of {gender} patients?
mean of the charted {vital} values among {gender} patients
compute the average {vital} for {gender} patients, reading by reading
what does {vital} average in {gender} patients?
average {vital}, {gender}
""",
    ),
    answerable(
        "fluid-balance",
        "harder",
        "stay",
        "SELECT (SELECT SUM(totalamount) FROM inputevents WHERE stay_id = :stay AND totalamountuom = 'ml') - (SELECT SUM(value) FROM outputevents WHERE stay_id = :stay)",
        """
what was the fluid balance of icu stay {stay}, inputs in ml minus outputs?
compute the inputs measured in ml less all outputs for icu stay {stay}
ml in minus output, icu stay {stay}
by how much did the inputs in ml exceed the outputs in icu stay {stay}?
icu stay {stay}: total input in ml minus total output
""",
    ),
    answerable(
        "vital-change-in-stay",
        "harder",
        "stay_vital",
        "SELECT (SELECT e.valuenum FROM chartevents AS e JOIN d_items AS d ON d.itemid = e.itemid WHERE e.stay_id = :stay AND d.label = :vital AND e.valuenum IS NOT NULL ORDER BY e.charttime DESC LIMIT 1) - (SELECT e.valuenum FROM chartevents AS e JOIN d_items AS d ON d.itemid = e.itemid WHERE e.stay_id = :stay AND d.label = :vital AND e.valuenum IS NOT NULL ORDER BY e.charttime LIMIT 1)",
        """
by how much did {vital} change from the first to the last value of icu stay {stay}?
change in {vital} over icu stay {stay}, last minus first value
compute the last minus the first {vital} in icu stay {stay}
how far did {vital} move between the first and the last reading in icu stay {stay}?
icu stay {stay}: difference in {vital}, last value less first value
""",
    ),
    answerable(
        "top-intakes",
        "harder",
        "k year",
        "SELECT d.label FROM inputevents AS e JOIN d_items AS d ON d.itemid = e.itemid WHERE strftime('%Y', e.starttime) = :year GROUP BY d.label ORDER BY COUNT(*) DESC LIMIT :k",
        """
what were the {k} most frequent inputs in {year}?
list the top {k} input items of {year} by number of events
{k} most frequent inputs by label, {year}
name the {k} inputs recorded most often in {year}
in {year}, which {k} input items were given the most times?
""",
    ),
    answerable(
        "vital-above-in-unit",
        "harder",
        "icu vital_above",
        "SELECT COUNT(DISTINCT i.stay_id) FROM icustays AS i JOIN chartevents AS e ON e.stay_id = i.stay_id JOIN d_items AS d ON d.itemid = e.itemid WHERE i.first_careunit = :icu AND d.label = :vital AND e.valuenum > :threshold",
        """
in how many icu stays begun in {icu} did {vital} go above {threshold}?
count the stays starting in {icu} with any {vital} reading greater than {threshold}
number of icu stays first in {icu} with {vital} over {threshold}
how many stays that began in {icu} had {vital} higher than {threshold} at some time?
{icu} as first unit, {vital} > {threshold}: how many stays?
""",
    ),
)
