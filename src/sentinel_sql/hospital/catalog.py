"""The hospital's vocabulary: diagnoses, procedures, measures, drugs and fluids, and spoken names.

Each line of a block is one stored entry. `= …` gives the words of a question for it if they differ
from the stored spelling, so that the agent must look it up. Codes and names of conditions are
facts; the lists, spellings, numbers and item ids are ours.
"""

# ruff: noqa: E501

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Code:
    """A diagnosis or a procedure: its stored code and title."""

    code: str
    title: str
    said: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Measure:
    """A laboratory value or charted sign: its mean and spread in healthy patients, and limits."""

    label: str
    said: str
    unit: str
    panel: str
    center: float
    spread: float
    low: float
    high: float
    decimals: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Drug:
    """A drug with its dose, unit and route; `share` is that of admissions of any condition."""

    label: str
    said: str
    dose: float
    unit: str
    route: str
    share: float
    price: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Flow:
    """A fluid or infusion given to, or taken from, a patient in the ICU."""

    label: str
    said: str
    unit: str
    amount: float
    share: float


def _rows(block: str) -> list[tuple[list[str], str]]:
    rows = []
    for line in block.strip().splitlines():
        stored, _, said = line.partition(" = ")
        rows.append((stored.strip(" ").split("|"), said.strip()))
    return rows


def _codes(system: str, block: str) -> tuple[Code, ...]:
    return tuple(
        Code(code=f"{system}|{cells[0]}", title=cells[1], said=said or cells[1])
        for cells, said in _rows(block)
    )


def _measures(block: str) -> tuple[Measure, ...]:
    return tuple(
        Measure(
            label=c[0],
            said=said or c[0],
            unit=c[1],
            panel=c[2],
            center=float(c[3]),
            spread=float(c[4]),
            low=float(c[5]),
            high=float(c[6]),
            decimals=int(c[7]),
        )
        for c, said in _rows(block)
    )


DIAGNOSES = _codes(
    "icd10",
    """
i5021|acute systolic (congestive) heart failure = acute systolic heart failure
i5023|acute on chronic systolic (congestive) heart failure = acute on chronic systolic heart failure
i5033|acute on chronic diastolic (congestive) heart failure = acute on chronic diastolic heart failure
i110|hypertensive heart disease with heart failure
i2510|atherosclerotic heart disease of native coronary artery without angina pectoris = native coronary artery atherosclerosis without angina
i214|non-st elevation (nstemi) myocardial infarction = nstemi
i2109|st elevation (stemi) myocardial infarction involving other coronary artery of anterior wall = anterior wall stemi
i4891|unspecified atrial fibrillation
i480|paroxysmal atrial fibrillation
i472|ventricular tachycardia
i469|cardiac arrest, cause unspecified = cardiac arrest
r570|cardiogenic shock
i10|essential (primary) hypertension = essential hypertension
i350|nonrheumatic aortic (valve) stenosis = aortic valve stenosis
i2699|other pulmonary embolism without acute cor pulmonale = pulmonary embolism
i82409|acute embolism and thrombosis of unspecified deep veins of unspecified lower extremity = acute deep vein thrombosis of a lower extremity
i959|hypotension, unspecified = hypotension
i447|left bundle-branch block, unspecified = left bundle branch block
i255|ischemic cardiomyopathy
i739|peripheral vascular disease, unspecified = peripheral vascular disease
i272|other secondary pulmonary hypertension = secondary pulmonary hypertension
j441|chronic obstructive pulmonary disease with (acute) exacerbation = copd with acute exacerbation
j449|chronic obstructive pulmonary disease, unspecified = unspecified copd
j189|pneumonia, unspecified organism = pneumonia of unspecified organism
j690|pneumonitis due to inhalation of food and vomit = aspiration pneumonitis
j9601|acute respiratory failure with hypoxia
j9602|acute respiratory failure with hypercapnia
j90|pleural effusion, not elsewhere classified = pleural effusion
j45909|unspecified asthma, uncomplicated = uncomplicated asthma
j80|acute respiratory distress syndrome
j9811|atelectasis
j939|pneumothorax, unspecified = unspecified pneumothorax
g4733|obstructive sleep apnea (adult) (pediatric) = obstructive sleep apnea
n179|acute kidney failure, unspecified = unspecified acute kidney failure
n170|acute kidney failure with tubular necrosis
n184|chronic kidney disease, stage 4 (severe) = stage 4 chronic kidney disease
n189|chronic kidney disease, unspecified = unspecified chronic kidney disease
n186|end stage renal disease
z992|dependence on renal dialysis
n390|urinary tract infection, site not specified = urinary tract infection
n200|calculus of kidney = kidney calculus
e875|hyperkalemia
e876|hypokalemia
e871|hypo-osmolality and hyponatremia = hyponatremia
e870|hyperosmolality and hypernatremia = hypernatremia
e872|acidosis
e8342|hypomagnesemia
e860|dehydration
e119|type 2 diabetes mellitus without complications = type 2 diabetes without complications
e1165|type 2 diabetes mellitus with hyperglycemia = type 2 diabetes with hyperglycemia
e1122|type 2 diabetes mellitus with diabetic chronic kidney disease = type 2 diabetes with chronic kidney disease
e1010|type 1 diabetes mellitus with ketoacidosis without coma = type 1 diabetes with ketoacidosis
e11649|type 2 diabetes mellitus with hypoglycemia without coma = type 2 diabetes with hypoglycemia
e039|hypothyroidism, unspecified = hypothyroidism
e785|hyperlipidemia, unspecified = hyperlipidemia
e669|obesity, unspecified = unspecified obesity
e6601|morbid (severe) obesity due to excess calories = morbid obesity
e46|unspecified protein-calorie malnutrition = protein-calorie malnutrition
e559|vitamin d deficiency, unspecified = vitamin d deficiency
a419|sepsis, unspecified organism = sepsis of unspecified organism
a4151|sepsis due to escherichia coli [e. coli] = sepsis due to escherichia coli
r6521|severe sepsis with septic shock
r6520|severe sepsis without septic shock
r7881|bacteremia
a0472|enterocolitis due to clostridium difficile, not specified as recurrent = clostridium difficile enterocolitis
l03115|cellulitis of right lower limb
l03116|cellulitis of left lower limb
b9562|methicillin resistant staphylococcus aureus infection as the cause of diseases classified elsewhere = methicillin resistant staphylococcus aureus infection
i330|acute and subacute infective endocarditis = infective endocarditis
g039|meningitis, unspecified = meningitis
t80211a|bloodstream infection due to central venous catheter, initial encounter = central venous catheter bloodstream infection
k7030|alcoholic cirrhosis of liver without ascites
k7031|alcoholic cirrhosis of liver with ascites
k7290|hepatic failure, unspecified without coma = hepatic failure
k766|portal hypertension
i8511|secondary esophageal varices with bleeding = bleeding esophageal varices
b182|chronic viral hepatitis c
k922|gastrointestinal hemorrhage, unspecified = gastrointestinal hemorrhage
k921|melena
k264|chronic or unspecified duodenal ulcer with hemorrhage = duodenal ulcer with hemorrhage
k219|gastro-esophageal reflux disease without esophagitis = gastro-esophageal reflux disease
k8590|acute pancreatitis without necrosis or infection, unspecified = acute pancreatitis
k56609|unspecified intestinal obstruction, unspecified as to partial versus complete obstruction = intestinal obstruction
k567|ileus, unspecified = ileus
k5900|constipation, unspecified = constipation
d62|acute posthemorrhagic anemia
d649|anemia, unspecified = unspecified anemia
d631|anemia in chronic kidney disease
d696|thrombocytopenia, unspecified = thrombocytopenia
d689|coagulation defect, unspecified = coagulation defect
d709|neutropenia, unspecified = neutropenia
i639|cerebral infarction, unspecified = cerebral infarction
i619|nontraumatic intracerebral hemorrhage, unspecified = nontraumatic intracerebral hemorrhage
i609|nontraumatic subarachnoid hemorrhage, unspecified = nontraumatic subarachnoid hemorrhage
g40909|epilepsy, unspecified, not intractable, without status epilepticus = epilepsy without status epilepticus
g9341|metabolic encephalopathy
f05|delirium due to known physiological condition = delirium
g8191|hemiplegia, unspecified affecting right dominant side = right-sided hemiplegia
r4701|aphasia
r1310|dysphagia, unspecified = dysphagia
f0390|unspecified dementia without behavioral disturbance = dementia without behavioral disturbance
s72001a|fracture of unspecified part of neck of right femur, initial encounter for closed fracture = right femoral neck fracture
s2241xa|multiple fractures of ribs, right side, initial encounter for closed fracture = multiple right-sided rib fractures
s065x0a|traumatic subdural hemorrhage without loss of consciousness, initial encounter = traumatic subdural hemorrhage
s0101xa|laceration without foreign body of scalp, initial encounter = scalp laceration
s36039a|unspecified laceration of spleen, initial encounter = splenic laceration
w19xxxa|unspecified fall, initial encounter = unspecified fall
f329|major depressive disorder, single episode, unspecified = major depressive disorder
f419|anxiety disorder, unspecified = anxiety disorder
f10239|alcohol dependence with withdrawal, unspecified = alcohol dependence with withdrawal
f1020|alcohol dependence, uncomplicated = uncomplicated alcohol dependence
f17210|nicotine dependence, cigarettes, uncomplicated = nicotine dependence on cigarettes
t391x2a|poisoning by 4-aminophenol derivatives, intentional self-harm, initial encounter = self-harm poisoning by 4-aminophenol derivatives
t40601a|poisoning by unspecified narcotics, accidental (unintentional), initial encounter = accidental poisoning by narcotics
z7901|long term (current) use of anticoagulants = long term use of anticoagulants
z794|long term (current) use of insulin = long term use of insulin
z951|presence of aortocoronary bypass graft
z955|presence of coronary angioplasty implant and graft = presence of a coronary angioplasty implant
z515|encounter for palliative care
c3490|malignant neoplasm of unspecified part of unspecified bronchus or lung = malignant neoplasm of bronchus or lung
c189|malignant neoplasm of colon, unspecified = malignant neoplasm of colon
c259|malignant neoplasm of pancreas, unspecified = malignant neoplasm of pancreas
c787|secondary malignant neoplasm of liver and intrahepatic bile duct = secondary malignant neoplasm of liver
c9000|multiple myeloma not having achieved remission = multiple myeloma
c9200|acute myeloblastic leukemia, not having achieved remission = acute myeloblastic leukemia
m109|gout, unspecified = gout
m810|age-related osteoporosis without current pathological fracture = osteoporosis
m069|rheumatoid arthritis, unspecified = rheumatoid arthritis
n400|benign prostatic hyperplasia without lower urinary tract symptoms = benign prostatic hyperplasia
l89153|pressure ulcer of sacral region, stage 3 = stage 3 sacral pressure ulcer
r112|nausea with vomiting, unspecified = nausea with vomiting
r509|fever, unspecified = unspecified fever
r079|chest pain, unspecified = unspecified chest pain
""",
)

PROCEDURES = _codes(
    "icd9",
    """
9671|continuous invasive mechanical ventilation for less than 96 consecutive hours = invasive ventilation for less than 96 hours
9672|continuous invasive mechanical ventilation for 96 consecutive hours or more = invasive ventilation for 96 hours or more
9604|insertion of endotracheal tube
9390|non-invasive mechanical ventilation
3893|venous catheterization, not elsewhere classified = venous catheterization not elsewhere classified
3895|venous catheterization for renal dialysis
3891|arterial catheterization
3995|hemodialysis
9904|transfusion of packed cells
9907|transfusion of other serum = transfusion of serum
9905|transfusion of platelets
8856|coronary arteriography using two catheters = coronary arteriography
3722|left heart cardiac catheterization
0066|percutaneous transluminal coronary angioplasty [ptca] = percutaneous transluminal coronary angioplasty
3607|insertion of drug-eluting coronary artery stent(s) = drug-eluting coronary stent insertion
3615|single internal mammary-coronary artery bypass
3961|extracorporeal circulation auxiliary to open heart surgery = extracorporeal circulation for open heart surgery
3521|open and other replacement of aortic valve with tissue graft = aortic valve replacement with tissue graft
3761|implant of pulsation balloon = pulsation balloon implant
9960|cardiopulmonary resuscitation, not otherwise specified = cardiopulmonary resuscitation
9962|other electric countershock of heart = electric countershock of the heart
3783|initial insertion of dual-chamber device = dual-chamber device insertion
8872|diagnostic ultrasound of heart = heart ultrasound
4513|other endoscopy of small intestine = small intestine endoscopy
4516|esophagogastroduodenoscopy [egd] with closed biopsy = esophagogastroduodenoscopy with biopsy
4233|endoscopic excision or destruction of lesion or tissue of esophagus = endoscopic excision of esophageal lesion
4523|colonoscopy
4443|endoscopic control of gastric or duodenal bleeding
5491|percutaneous abdominal drainage
3491|thoracentesis
3404|insertion of intercostal catheter for drainage = intercostal drainage catheter insertion
3324|closed [endoscopic] biopsy of bronchus = bronchus biopsy
3323|other bronchoscopy = bronchoscopy
311|temporary tracheostomy
4311|percutaneous [endoscopic] gastrostomy [peg] = percutaneous gastrostomy
966|enteral infusion of concentrated nutritional substances = enteral nutrition infusion
9915|parenteral infusion of concentrated nutritional substances = parenteral nutrition infusion
0331|spinal tap
0131|incision of cerebral meninges
0221|insertion or replacement of external ventricular drain [evd] = external ventricular drain insertion
8841|arteriography of cerebral arteries
8703|computerized axial tomography of head = head tomography
9910|injection or infusion of thrombolytic agent = thrombolytic agent infusion
7935|open reduction of fracture with internal fixation, femur = open femur fracture fixation
8154|total knee replacement
415|total splenectomy
8659|closure of skin and subcutaneous tissue of other sites = skin closure
9925|injection or infusion of cancer chemotherapeutic substance = chemotherapy infusion
4131|biopsy of bone marrow = bone marrow biopsy
5185|endoscopic sphincterotomy and papillotomy = endoscopic sphincterotomy
387|interruption of the vena cava
8622|excisional debridement of wound, infection, or burn = excisional wound debridement
""",
)

LABS = _measures(
    """
creatinine, serum|mg/dl|chem|0.95|0.25|0.2|14|1 = serum creatinine
urea nitrogen, serum|mg/dl|chem|16|5|3|180|0 = serum urea nitrogen
sodium, serum|meq/l|chem|139|3|112|168|0 = serum sodium
potassium, serum|meq/l|chem|4.2|0.4|2.1|7.8|1 = serum potassium
chloride, serum|meq/l|chem|103|3.5|78|132|0 = serum chloride
bicarbonate|meq/l|chem|25|2.5|6|44|0
anion gap|meq/l|chem|13|2.5|4|38|0
glucose, serum|mg/dl|chem|112|24|38|690|0 = serum glucose
calcium, total|mg/dl|chem|9.0|0.5|5.8|13.5|1 = total calcium
magnesium|mg/dl|chem|2.0|0.22|0.9|4.6|1
phosphate|mg/dl|chem|3.5|0.6|0.8|11|1
hemoglobin|g/dl|count|13.2|1.4|4.2|18.5|1
hematocrit|%|count|39.5|4|13|56|1
white blood cells|k/ul|count|7.8|2|0.1|68|1 = white blood cell count
red blood cells|m/ul|count|4.4|0.5|1.5|6.6|2 = red blood cell count
platelet count|k/ul|count|238|58|5|960|0
mcv|fl|count|90|4.5|66|122|0
rdw|%|count|13.8|1.1|11|28|1
neutrophils|%|diff|66|9|1|98|1
lymphocytes|%|diff|22|7|1|80|1
eosinophils|%|diff|2.2|1.2|0|22|1
alanine aminotransferase (alt)|iu/l|liver|28|11|4|4200|0 = alanine aminotransferase
asparate aminotransferase (ast)|iu/l|liver|30|11|6|5800|0 = the ast level
alkaline phosphatase|iu/l|liver|84|24|20|1100|0
bilirubin, total|mg/dl|liver|0.7|0.25|0.1|34|1 = total bilirubin
albumin, serum|g/dl|liver|3.9|0.4|1.3|5.4|1 = serum albumin
lipase|iu/l|liver|38|14|5|3600|0
ammonia, plasma|umol/l|ammonia|34|10|8|290|0 = plasma ammonia
inr(pt)|ratio|coag|1.1|0.12|0.8|9.5|1 = inr
pt|sec|coag|12.4|1.1|9|85|1 = prothrombin time
ptt|sec|coag|31|4|19|150|1 = partial thromboplastin time
fibrinogen, functional|mg/dl|coag|310|70|60|950|0 = functional fibrinogen
lactate|mmol/l|gas|1.4|0.4|0.4|18|1
ph, arterial|units|gas|7.40|0.035|6.85|7.66|2 = arterial ph
po2, arterial|mm hg|gas|96|18|34|420|0 = arterial po2
pco2, arterial|mm hg|gas|40|4.5|16|115|0 = arterial pco2
base excess|meq/l|gas|0|2.2|-26|20|0
troponin t, high sensitivity|ng/l|cardiac|11|4|3|9800|0 = high sensitivity troponin t
creatine kinase, mb fraction|ng/ml|cardiac|2.8|1|0.5|320|1 = creatine kinase mb fraction
ntprobnp|pg/ml|cardiac|180|70|10|38000|0 = nt-probnp
c-reactive protein|mg/l|inflam|5|2.2|0.2|420|1
procalcitonin|ng/ml|inflam|0.12|0.05|0.02|95|2
vancomycin trough level|ug/ml|level|14|4|2|48|1 = vancomycin trough
hemoglobin a1c|%|admit|5.6|0.4|4|15.5|1
thyroid stimulating hormone (tsh)|uiu/ml|admit|2.1|0.8|0.01|95|2 = tsh
cholesterol, total|mg/dl|admit|176|32|70|390|0 = total cholesterol
triglycerides|mg/dl|admit|122|40|30|1900|0
ferritin|ng/ml|admit|150|70|5|4500|0
25-oh vitamin d|ng/ml|admit|29|8|4|90|0
creatinine, urine|mg/dl|urine|88|30|8|420|0 = urine creatinine
sodium, urine|meq/l|urine|70|28|5|240|0 = urine sodium
protein/creatinine ratio, urine|mg/mg|urine|0.2|0.08|0.02|18|1 = urine protein to creatinine ratio
""",
)

UNUSED_LABS = (
    "carboxyhemoglobin",
    "methemoglobin",
    "haptoglobin",
    "reticulocyte count, automated",
    "digoxin level",
    "phenytoin, free",
    "complement c3",
    "rheumatoid factor",
)

VITALS = _measures(
    """
heart rate|bpm|vital|82|11|28|196|0
respiratory rate|insp/min|vital|18|3|6|52|0
spo2 (pulse oximetry)|%|vital|97|1.4|68|100|0 = oxygen saturation
non invasive bp systolic|mmhg|vital|124|14|58|228|0 = non-invasive systolic blood pressure
non invasive bp diastolic|mmhg|vital|68|9|26|128|0 = non-invasive diastolic blood pressure
arterial bp mean|mmhg|line|82|9|38|142|0 = arterial mean blood pressure
central venous pressure|mmhg|line|9|3|0|32|0
temperature (c)|°c|temp|36.9|0.4|33.1|41.2|1 = temperature in celsius
temperature (f)|°f|spot|98.4|0.7|91.6|106.2|1 = temperature in fahrenheit
gcs, total score|points|neuro|14|1.2|3|15|0 = total gcs score
pain score, numeric|points|neuro|3|1.8|0|10|0 = numeric pain score
fio2, set|%|vent|42|8|21|100|0 = set fio2
peep, set|cmh2o|vent|6|1.6|0|20|0 = set peep
tidal volume, observed|ml|vent|440|60|180|820|0 = observed tidal volume
daily weight|kg|daily|82|16|36|210|1
glucose, fingerstick|mg/dl|spot|138|30|36|560|0 = fingerstick glucose
braden score|points|daily|15|2.4|6|23|0
""",
)

DRUGS = tuple(
    Drug(
        label=c[0],
        said=said or c[0],
        dose=float(c[1]),
        unit=c[2],
        route=c[3],
        share=float(c[4]),
        price=float(c[5]),
    )
    for c, said in _rows(
        """
metoprolol tartrate|25|mg|po|0.16|2.1 = metoprolol
furosemide|40|mg|iv|0.14|3.2
torsemide|20|mg|po|0.01|2.6
lisinopril|10|mg|po|0.08|1.4
amlodipine besylate|5|mg|po|0.08|1.5 = amlodipine
spironolactone|25|mg|po|0.01|1.9
hydralazine hcl|10|mg|iv|0.05|4.4 = hydralazine
atorvastatin calcium|40|mg|po|0.12|2.2 = atorvastatin
aspirin ec|81|mg|po|0.16|0.4 = aspirin
clopidogrel|75|mg|po|0.03|2.9
ticagrelor|90|mg|po|0.01|9.8
nitroglycerin sl|0.4|mg|sl|0.03|3.5 = nitroglycerin
amiodarone hcl|200|mg|po|0.02|4.1 = amiodarone
diltiazem extended-release|120|mg|po|0.02|4.8 = diltiazem
apixaban|5|mg|po|0.03|11.6
warfarin|2.5|mg|po|0.03|1.1
heparin sodium (porcine)|5000|unit|sc|0.42|5.3 = heparin
enoxaparin sodium|40|mg|sc|0.12|12.4 = enoxaparin
digoxin|0.125|mg|po|0.01|1.3
albuterol 0.083% neb soln|2.5|mg|ih|0.07|2.4 = albuterol nebulizer solution
ipratropium-albuterol neb|1|neb|ih|0.05|3.6 = ipratropium-albuterol nebulizer
methylprednisolone sodium succ|60|mg|iv|0.02|9.1 = methylprednisolone
prednisone|40|mg|po|0.03|1.2
azithromycin|500|mg|iv|0.03|8.3
ceftriaxone|1|g|iv|0.09|7.7
cefepime|2|g|iv|0.06|14.2
piperacillin-tazobactam|4.5|g|iv|0.06|18.9
vancomycin|1000|mg|iv|0.12|16.4
meropenem|1|g|iv|0.02|27.5
metronidazole (flagyl)|500|mg|iv|0.04|5.9 = metronidazole
ciprofloxacin hcl|400|mg|iv|0.02|6.8 = ciprofloxacin
fluconazole|200|mg|po|0.02|6.1
insulin|4|unit|sc|0.22|6.5
insulin glargine|18|unit|sc|0.03|14.7
dextrose 50%|12.5|g|iv|0.06|5.2
levothyroxine sodium|75|mcg|po|0.01|1.0 = levothyroxine
acetaminophen|650|mg|po|0.55|0.3
oxycodone (immediate release)|5|mg|po|0.16|1.7 = oxycodone
morphine sulfate|2|mg|iv|0.14|3.9 = morphine
hydromorphone (dilaudid)|0.5|mg|iv|0.08|4.7 = hydromorphone
fentanyl citrate|50|mcg|iv|0.10|6.2 = fentanyl
propofol|10|mg|iv drip|0.05|21.3
dexmedetomidine hcl|200|mcg|iv drip|0.03|38.6 = dexmedetomidine
lorazepam|1|mg|iv|0.05|3.3
haloperidol|2|mg|iv|0.03|3.8
quetiapine fumarate|25|mg|po|0.04|1.8 = quetiapine
levetiracetam (keppra)|500|mg|iv|0.02|13.5 = levetiracetam
nicardipine|20|mg|iv drip|0.01|44.9
norepinephrine bitartrate|8|mg|iv drip|0.04|36.8 = norepinephrine
pantoprazole sodium|40|mg|iv|0.28|4.2 = pantoprazole
famotidine|20|mg|po|0.10|1.1
octreotide acetate|100|mcg|iv drip|0.01|52.3 = octreotide
lactulose|30|ml|po|0.01|2.7
rifaximin|550|mg|po|0.005|31.4
docusate sodium|100|mg|po|0.34|0.3 = docusate
senna|8.6|mg|po|0.28|0.3
polyethylene glycol|17|g|po|0.14|0.9
bisacodyl ec|10|mg|po|0.08|0.5 = bisacodyl
ondansetron hcl|4|mg|iv|0.20|2.5 = ondansetron
potassium chloride er|40|meq|po|0.18|1.6 = extended-release potassium chloride
magnesium sulfate 2 g/50 ml|2|g|iv|0.18|4.6 = magnesium sulfate
calcium gluconate|2|g|iv|0.07|5.5
sodium bicarbonate|650|mg|po|0.02|1.2
sodium chloride 0.9%  flush|3|ml|iv|0.52|0.9 = saline flush
0.9% sodium chloride|1000|ml|iv|0.34|3.0 = 0.9% sodium chloride
lactated ringers|1000|ml|iv|0.16|3.4
albumin 25% (12.5g / 50ml)|25|g|iv|0.02|61.0 = 25% albumin
sevelamer carbonate|800|mg|po|0.005|7.4 = sevelamer
epoetin alfa|4000|unit|sc|0.005|68.2
thiamine hcl|100|mg|po|0.04|0.8 = thiamine
folic acid|1|mg|po|0.06|0.4
multivitamins w/minerals|1|tab|po|0.07|0.4 = multivitamins with minerals
diazepam|5|mg|po|0.02|1.0
phenobarbital sodium|65|mg|iv|0.005|9.9 = phenobarbital
acetylcysteine 20%|4000|mg|iv|0.005|24.4 = acetylcysteine
naloxone hcl|0.4|mg|iv|0.01|17.6 = naloxone
sertraline|50|mg|po|0.02|0.9
trazodone|50|mg|po|0.04|0.8
gabapentin|300|mg|po|0.06|1.1
allopurinol|100|mg|po|0.01|0.7
tamsulosin er|0.4|mg|po|0|1.2 = tamsulosin
filgrastim-sndz|480|mcg|sc|0.005|96.5 = filgrastim
cefazolin|2|g|iv|0.05|4.9
alteplase|50|mg|iv|0.003|310.0
"""
    )
)


def _flows(block: str) -> tuple[Flow, ...]:
    return tuple(
        Flow(label=c[0], said=said or c[0], unit=c[1], amount=float(c[2]), share=float(c[3]))
        for c, said in _rows(block)
    )


INPUTS = _flows(
    """
nacl 0.9%|ml|250|0.75 = normal saline
dextrose 5%|ml|120|0.40
lr (bolus)|ml|480|0.22 = lactated ringer bolus
po intake|ml|180|0.55 = oral intake
free water|ml|100|0.12
norepinephrine (levophed)|mg|4.2|0.10 = the norepinephrine infusion
vasopressin|units|32|0.04
phenylephrine|mg|14|0.06
propofol (diprivan)|mg|380|0.16 = the propofol infusion
fentanyl (concentrate)|mcg|420|0.14 = concentrated fentanyl
midazolam (versed)|mg|12|0.05 = midazolam
insulin - regular|units|18|0.16 = regular insulin
heparin sodium drip|units|5200|0.10 = the heparin drip
packed red blood cells|ml|340|0.14
fresh frozen plasma|ml|270|0.05
platelets, apheresis|ml|220|0.04 = apheresis platelets
albumin 5%|ml|250|0.06
tube feeding, full strength|ml|320|0.14 = full strength tube feeding
potassium chloride (iv)|meq|20|0.24 = intravenous potassium chloride
magnesium sulfate (iv)|grams|2|0.22 = intravenous magnesium sulfate
"""
)

OUTPUTS = _flows(
    """
foley|ml|130|0.62 = the foley catheter
void|ml|260|0.48
chest tube #1|ml|60|0.10 = the first chest tube
jackson pratt #1|ml|35|0.06 = the first jackson pratt drain
oral gastric|ml|90|0.10 = the oral gastric tube
stool|ml|200|0.22
emesis|ml|150|0.06
ultrafiltrate removed|ml|2100|0.04 = ultrafiltration
pre-admission urine|ml|300|0.16
straight cath|ml|380|0.05 = straight catheterization
"""
)

ICU_UNITS = (
    "medical icu (micu)",
    "surgical icu (sicu)",
    "coronary care unit (ccu)",
    "cardiac surgery icu (csicu)",
    "neuro icu",
    "trauma icu (ticu)",
)
WARDS = (
    "general medicine",
    "surgical ward",
    "cardiology",
    "cardiac surgery",
    "neurology",
    "orthopedics",
    "hematology/oncology",
    "step-down unit",
)
EMERGENCY_ROOM = "emergency department"

ADMISSION_TYPES = (("emergency", 0.52), ("urgent", 0.18), ("observation", 0.12),
                   ("elective", 0.08), ("same day surgery", 0.10))  # fmt: skip
ADMISSION_LOCATIONS = (("emergency room", 0.5), ("physician referral", 0.18),
                       ("transfer from hospital", 0.18), ("walk-in/self referral", 0.08),
                       ("transfer from skilled nursing facility", 0.06))  # fmt: skip
DISCHARGE_LOCATIONS = (("home", 0.36), ("home health care", 0.26),
                       ("skilled nursing facility", 0.18), ("rehab", 0.10), ("hospice", 0.04),
                       ("against advice", 0.02), ("acute hospital", 0.04))  # fmt: skip
DIED = "died"
INSURANCES = (("medicare", 0.44), ("medicaid", 0.20), ("private", 0.28), ("self-pay", 0.08))
LANGUAGES = (("english", 0.80), ("spanish", 0.08), ("portuguese", 0.04), ("russian", 0.03),
             ("mandarin", 0.02), (None, 0.03))  # fmt: skip
MARITAL = (("married", 0.42), ("single", 0.28), ("widowed", 0.14), ("divorced", 0.10),
           (None, 0.06))  # fmt: skip

MICRO_TESTS = (
    ("blood", "blood culture, routine", 0.5),
    ("urine", "urine culture", 0.4),
    ("sputum", "respiratory culture", 0.2),
    ("swab", "mrsa screen", 0.3),
    ("stool", "c. difficile pcr", 0.14),
    ("csf;spinal fluid", "fluid culture", 0.05),
    ("bronchoalveolar lavage", "respiratory culture", 0.07),
    ("peritoneal fluid", "fluid culture", 0.05),
    ("pleural fluid", "fluid culture", 0.05),
    ("foot culture", "wound culture", 0.04),
)
"""Specimen, test, and the share of admissions with it."""

ORGANISMS = {
    "blood": ("staphylococcus aureus, coag positive", "escherichia coli", "klebsiella pneumoniae",
              "staphylococcus, coagulase negative", "enterococcus sp."),
    "urine": ("escherichia coli", "klebsiella pneumoniae", "enterococcus sp.", "yeast",
              "proteus mirabilis"),
    "sputum": ("pseudomonas aeruginosa", "staphylococcus aureus, coag positive", "yeast",
               "haemophilus influenzae"),
    "swab": ("positive for methicillin resistant staph aureus",),
    "stool": ("clostridioides difficile",),
    "csf;spinal fluid": ("streptococcus pneumoniae",),
    "bronchoalveolar lavage": ("pseudomonas aeruginosa", "stenotrophomonas maltophilia"),
    "peritoneal fluid": ("escherichia coli", "enterococcus sp."),
    "pleural fluid": ("streptococcus pneumoniae",),
    "foot culture": ("staphylococcus aureus, coag positive", "proteus mirabilis"),
}  # fmt: skip

SPOKEN = {
    "diagnosis": {c.title: c.said for c in DIAGNOSES},
    "procedure": {c.title: c.said for c in PROCEDURES},
    "lab": {m.label: m.said for m in LABS},
    "vital": {m.label: m.said for m in VITALS},
    "drug": {d.label: d.said for d in DRUGS},
    "intake": {f.label: f.said for f in INPUTS},
    "output": {f.label: f.said for f in OUTPUTS},
    "specimen": {
        "blood": "blood", "urine": "urine", "sputum": "sputum", "swab": "swab", "stool": "stool",
        "csf;spinal fluid": "spinal fluid", "bronchoalveolar lavage": "bronchoalveolar lavage",
        "peritoneal fluid": "peritoneal fluid", "pleural fluid": "pleural fluid",
        "foot culture": "foot",
    },
    "organism": {
        "staphylococcus aureus, coag positive": "coag positive staphylococcus aureus",
        "staphylococcus, coagulase negative": "coagulase negative staphylococcus",
        "enterococcus sp.": "enterococcus",
        "positive for methicillin resistant staph aureus": "methicillin resistant staph aureus",
    },
    "icu": {
        "medical icu (micu)": "the medical icu",
        "surgical icu (sicu)": "the surgical icu",
        "coronary care unit (ccu)": "the coronary care unit",
        "cardiac surgery icu (csicu)": "the cardiac surgery icu",
        "neuro icu": "the neuro icu",
        "trauma icu (ticu)": "the trauma icu",
    },
    "ward": {ward: ward for ward in WARDS},
    "gender": {"f": "female", "m": "male"},
    "route": {"po": "by mouth (po)", "iv": "intravenously (iv)", "sc": "subcutaneously (sc)",
              "ih": "by inhalation (ih)", "iv drip": "as an iv drip", "sl": "under the tongue (sl)"},
}  # fmt: skip
"""By slot name, the words of a question for a stored value; others are named as stored."""
