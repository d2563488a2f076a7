"""The clinical rules of the generator: the conditions of patients and their consequences."""

# ruff: noqa: E501

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Condition:
    """The reason for an admission and its consequences, by stored label or code.

    `shifts` are in units of the measure's spread. `mortality` is the probability of death in an
    admission. `stay` scales the length of an admission.
    """

    name: str
    weight: float
    principal: str
    others: tuple[str, ...]
    procedures: tuple[str, ...]
    drugs: tuple[str, ...]
    shifts: dict[str, float]
    units: tuple[int, int]
    mortality: float
    stay: float


CONDITIONS = tuple(
    Condition(
        name=name,
        weight=weight,
        principal=codes.split()[0],
        others=tuple(codes.split()[1:]),
        procedures=tuple(procedures.split()),
        drugs=tuple(drugs.split("; ")),
        shifts=shifts,
        units=units,
        mortality=mortality,
        stay=stay,
    )
    for name, weight, codes, procedures, drugs, shifts, units, mortality, stay in (
        (
            "heart failure",
            12,
            "i5023 i110 i255 i4891 n179 j9601 j90 i2510 i272",
            "8872 9390 3893",
            "furosemide; metoprolol tartrate; lisinopril; spironolactone; torsemide; hydralazine hcl",
            {
                "ntprobnp": 60,
                "creatinine, serum": 2.5,
                "sodium, serum": -1.2,
                "heart rate": 1.0,
                "spo2 (pulse oximetry)": -1.8,
                "central venous pressure": 2.0,
            },
            (2, 2),
            0.08,
            1.0,
        ),
        (
            "myocardial infarction",
            9,
            "i214 i2510 z955 i472 r570 i469",
            "3722 8856 0066 3607",
            "aspirin ec; clopidogrel; ticagrelor; atorvastatin calcium; metoprolol tartrate; nitroglycerin sl",
            {
                "troponin t, high sensitivity": 220,
                "creatine kinase, mb fraction": 24,
                "cholesterol, total": 1.2,
                "heart rate": 0.6,
            },
            (2, 2),
            0.07,
            0.7,
        ),
        (
            "anterior infarction with bypass",
            5,
            "i2109 z951 r570 d62 j9811 i350",
            "3615 3961 3722 9904 3891 9671 3521",
            "aspirin ec; atorvastatin calcium; metoprolol tartrate; cefazolin; propofol; insulin; oxycodone (immediate release)",
            {
                "troponin t, high sensitivity": 400,
                "hemoglobin": -2.2,
                "hematocrit": -2.2,
                "lactate": 3.0,
                "arterial bp mean": -1.0,
            },
            (3, 2),
            0.06,
            1.0,
        ),
        (
            "copd exacerbation",
            8,
            "j441 j9602 j189 g4733 f17210",
            "9390 9604 9671",
            "albuterol 0.083% neb soln; ipratropium-albuterol neb; methylprednisolone sodium succ; prednisone; azithromycin",
            {
                "pco2, arterial": 4.5,
                "ph, arterial": -2.2,
                "bicarbonate": 2.2,
                "spo2 (pulse oximetry)": -3.2,
                "respiratory rate": 2.2,
                "white blood cells": 1.5,
            },
            (0, 0),
            0.06,
            0.8,
        ),
        (
            "pneumonia",
            9,
            "j189 j9601 j90 j80 j690 a419",
            "9604 9671 3323 9672",
            "ceftriaxone; azithromycin; cefepime; vancomycin; albuterol 0.083% neb soln",
            {
                "white blood cells": 3.5,
                "neutrophils": 1.6,
                "procalcitonin": 35,
                "temperature (c)": 2.2,
                "temperature (f)": 2.2,
                "spo2 (pulse oximetry)": -3.0,
                "respiratory rate": 2.4,
                "c-reactive protein": 40,
                "po2, arterial": -1.4,
            },
            (0, 0),
            0.12,
            1.2,
        ),
        (
            "septic shock",
            10,
            "a419 r6521 n170 e872 r7881 a4151 b9562 d696 t80211a",
            "3893 3891 9604 9672 3995 3895",
            "vancomycin; piperacillin-tazobactam; meropenem; cefepime; norepinephrine bitartrate; lactated ringers; albumin 25% (12.5g / 50ml)",
            {
                "lactate": 7,
                "white blood cells": 5,
                "creatinine, serum": 6,
                "platelet count": -1.6,
                "procalcitonin": 160,
                "temperature (c)": 2.4,
                "temperature (f)": 2.4,
                "heart rate": 2.6,
                "arterial bp mean": -2.2,
                "non invasive bp systolic": -2.0,
                "ph, arterial": -2.4,
                "inr(pt)": 3,
                "c-reactive protein": 70,
                "albumin, serum": -2.5,
            },
            (0, 1),
            0.25,
            1.5,
        ),
        (
            "urinary infection",
            5,
            "n390 a419 n179 n200 f05 n400",
            "3893",
            "ceftriaxone; ciprofloxacin hcl; haloperidol",
            {
                "white blood cells": 2.2,
                "creatinine, serum": 2,
                "temperature (c)": 1.6,
                "c-reactive protein": 18,
            },
            (0, 0),
            0.04,
            0.7,
        ),
        (
            "cirrhosis",
            6,
            "k7031 k766 k7290 i8511 d689 f1020 e871 b182 d696",
            "5491 4513 4443 9907 4233",
            "lactulose; rifaximin; spironolactone; octreotide acetate; albumin 25% (12.5g / 50ml); furosemide",
            {
                "bilirubin, total": 18,
                "inr(pt)": 6,
                "albumin, serum": -3,
                "platelet count": -2.4,
                "ammonia, plasma": 5,
                "asparate aminotransferase (ast)": 6,
                "sodium, serum": -2,
                "pt": 4,
            },
            (0, 0),
            0.14,
            1.1,
        ),
        (
            "gastrointestinal bleeding",
            6,
            "k922 k264 d62 k921 z7901 i959",
            "4513 4523 9904 4443 4516",
            "pantoprazole sodium; octreotide acetate; 0.9% sodium chloride",
            {
                "hemoglobin": -3.8,
                "hematocrit": -3.8,
                "urea nitrogen, serum": 4,
                "heart rate": 1.6,
                "red blood cells": -3.2,
            },
            (0, 1),
            0.06,
            0.7,
        ),
        (
            "diabetic ketoacidosis",
            5,
            "e1010 e872 e876 e860 z794",
            "3893",
            "insulin; insulin glargine; dextrose 50%; potassium chloride er; 0.9% sodium chloride",
            {
                "glucose, serum": 10,
                "glucose, fingerstick": 6,
                "anion gap": 5,
                "bicarbonate": -5,
                "ph, arterial": -4,
                "hemoglobin a1c": 11,
                "potassium, serum": 1.6,
            },
            (0, 0),
            0.02,
            0.6,
        ),
        (
            "kidney failure",
            6,
            "n179 n186 z992 e875 d631 e1122 n184",
            "3995 3895 3893",
            "sevelamer carbonate; epoetin alfa; calcium gluconate; sodium bicarbonate; furosemide",
            {
                "creatinine, serum": 16,
                "urea nitrogen, serum": 8,
                "potassium, serum": 3,
                "phosphate": 4,
                "bicarbonate": -2,
                "hemoglobin": -2.4,
                "daily weight": 0.4,
            },
            (0, 0),
            0.07,
            0.9,
        ),
        (
            "stroke",
            7,
            "i639 g8191 r4701 r1310 i480",
            "8703 9910 8841 4311 966",
            "aspirin ec; atorvastatin calcium; clopidogrel; nicardipine; alteplase",
            {"gcs, total score": -2.4, "non invasive bp systolic": 2.2, "cholesterol, total": 1.4},
            (4, 4),
            0.10,
            1.1,
        ),
        (
            "intracranial bleeding",
            5,
            "i619 i609 g40909 s065x0a r1310",
            "0221 0131 8703 9604 9672 311",
            "levetiracetam (keppra); nicardipine; propofol; fentanyl citrate",
            {"gcs, total score": -4.5, "non invasive bp systolic": 2.6, "sodium, serum": 1.2},
            (4, 5),
            0.20,
            1.5,
        ),
        (
            "trauma",
            7,
            "s2241xa s72001a w19xxxa s0101xa s36039a j939 d62",
            "3404 7935 9904 8659 415 8154",
            "oxycodone (immediate release); hydromorphone (dilaudid); cefazolin; gabapentin; enoxaparin sodium",
            {"hemoglobin": -2, "pain score, numeric": 2, "lactate": 2, "heart rate": 1.0},
            (5, 1),
            0.06,
            1.0,
        ),
        (
            "alcohol withdrawal",
            4,
            "f10239 g9341 e8342 k7030 f419 e46",
            "3893",
            "thiamine hcl; folic acid; multivitamins w/minerals; diazepam; phenobarbital sodium; lorazepam",
            {"asparate aminotransferase (ast)": 5, "magnesium": -1.8, "heart rate": 2.0, "mcv": 2},
            (0, 5),
            0.02,
            0.6,
        ),
        (
            "poisoning",
            3,
            "t391x2a f329 k7290 t40601a g9341",
            "9604 9671",
            "acetylcysteine 20%; naloxone hcl; sertraline; ondansetron hcl",
            {
                "alanine aminotransferase (alt)": 80,
                "asparate aminotransferase (ast)": 80,
                "inr(pt)": 4,
                "gcs, total score": -1.5,
            },
            (0, 0),
            0.04,
            0.6,
        ),
        (
            "lung cancer",
            4,
            "c3490 j90 c787 j9601 z515 i2699",
            "3491 3324 9925",
            "morphine sulfate; enoxaparin sodium; prednisone; ondansetron hcl",
            {
                "hemoglobin": -1.8,
                "albumin, serum": -2,
                "calcium, total": 2.0,
                "spo2 (pulse oximetry)": -2,
            },
            (0, 1),
            0.18,
            1.0,
        ),
        (
            "leukemia",
            3,
            "c9200 d709 d696 c9000 r509",
            "9925 4131 9905 9904",
            "cefepime; filgrastim-sndz; allopurinol; fluconazole; vancomycin",
            {
                "white blood cells": -2.6,
                "platelet count": -3.4,
                "hemoglobin": -3.2,
                "neutrophils": -4,
                "temperature (c)": 1.8,
            },
            (0, 0),
            0.14,
            1.7,
        ),
        (
            "pancreatitis or obstruction",
            5,
            "k8590 k56609 k567 e860 r112",
            "5185 9915 966",
            "lactated ringers; hydromorphone (dilaudid); ondansetron hcl; famotidine; metronidazole (flagyl)",
            {"lipase": 40, "triglycerides": 4, "white blood cells": 2.2, "calcium, total": -1.6},
            (1, 0),
            0.04,
            1.0,
        ),
        (
            "pulmonary embolism",
            4,
            "i2699 i82409 j9601 z7901",
            "387 8872",
            "heparin sodium (porcine); apixaban; warfarin; enoxaparin sodium",
            {
                "heart rate": 2.0,
                "spo2 (pulse oximetry)": -2.6,
                "ptt": 5,
                "troponin t, high sensitivity": 12,
            },
            (0, 2),
            0.06,
            0.7,
        ),
    )
)

BACKGROUND = {
    "i10": 0.42, "e785": 0.34, "e119": 0.20, "k219": 0.24, "f329": 0.14, "f419": 0.12,
    "e039": 0.11, "i2510": 0.14, "i4891": 0.10, "n189": 0.10, "d649": 0.16, "e669": 0.08,
    "e6601": 0.05, "g4733": 0.08, "j449": 0.08, "j45909": 0.06, "f17210": 0.10, "z794": 0.08,
    "z7901": 0.08, "z951": 0.04, "z955": 0.05, "i739": 0.05, "i447": 0.03, "m109": 0.05,
    "m810": 0.05, "m069": 0.03, "n400": 0.05, "e559": 0.05, "f0390": 0.04, "k5900": 0.12,
    "e871": 0.08, "e876": 0.09, "e875": 0.05, "e870": 0.04, "n179": 0.10, "n390": 0.08, "e46": 0.05,
    "f05": 0.06, "j9811": 0.06, "i959": 0.07, "d696": 0.06, "l89153": 0.03, "a0472": 0.03,
    "l03115": 0.02, "l03116": 0.02, "e1165": 0.06, "e11649": 0.02, "r079": 0.04, "r509": 0.04,
    "i5033": 0.05, "i480": 0.04, "r6520": 0.03, "c189": 0.02, "c259": 0.01, "i330": 0.01,
    "g039": 0.01, "z515": 0.03,
}  # fmt: skip
"""By diagnosis code, the share of admissions that have it independent of their condition."""

MALE_ONLY = ("n400",)
"""Codes of the diagnoses that only men have."""

OLDEST_ONLY = {"f0390": 60, "m810": 50}
"""By diagnosis code, the least age of patients that have it."""

TREATMENTS = {
    "i10": "amlodipine besylate; lisinopril",
    "e785": "atorvastatin calcium",
    "e119": "insulin",
    "e1165": "insulin; insulin glargine",
    "e039": "levothyroxine sodium",
    "i4891": "metoprolol tartrate; apixaban",
    "i480": "diltiazem extended-release; amiodarone hcl",
    "z7901": "warfarin",
    "z794": "insulin glargine",
    "k219": "pantoprazole sodium",
    "f329": "sertraline; trazodone",
    "f05": "quetiapine fumarate; haloperidol",
    "e876": "potassium chloride er",
    "e8342": "magnesium sulfate 2 g/50 ml",
    "m109": "allopurinol",
    "n400": "tamsulosin er",
    "j449": "ipratropium-albuterol neb",
    "j45909": "albuterol 0.083% neb soln",
    "a0472": "metronidazole (flagyl)",
    "k5900": "senna; polyethylene glycol",
    "f1020": "thiamine hcl; folic acid",
    "i472": "amiodarone hcl",
    "i5033": "furosemide",
    "i110": "digoxin",
    "g40909": "levetiracetam (keppra)",
}
"""By diagnosis code, the drugs that treat it."""
