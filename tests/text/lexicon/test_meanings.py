"""What decides between the meanings of short forms, in sentences as notes have them.

"[MS]" is the short form that is asked about. What is expected is the first long form; "-" where
nothing decides; in parentheses what is nothing to be linked.
"""

import re

import pytest

from spacy_medlink.text.lexicon import Surroundings, open_lexicon

ENGLISH = [
    ("She was diagnosed with [MS] in 2009 and has had two relapses.", "multiple sclerosis"),
    ("Echo: moderate [MS] with a mean gradient of 8, trivial MR.", "mitral stenosis"),
    ("Pain controlled with [MS] 15 mg PO q4h.", "morphine sulfate"),
    ("Continue [MS] Contin twice a day.", "morphine sulfate"),
    ("Brought in for [MS] changes since yesterday.", "(mental status)"),
    ("Longstanding [RA] on methotrexate, with ulnar deviation.", "rheumatoid arthritis"),
    ("Sat 98% on [RA].", "(room air)"),
    ("Afebrile, breathing comfortably on [RA]", "(room air)"),
    ("SpO2 91 on [RA], 97 with 2L NC.", "(room air)"),
    ("The [RA] is mildly dilated, RV function is normal.", "(right atrium)"),
    ("[PT] was seen in clinic today.", "(patient)"),
    ("The [pt] denies chest pain.", "(patient)"),
    ("[PT] 14.2, INR 1.3, PTT 30.", "(prothrombin time)"),
    ("Outpatient [PT] for gait and strengthening.", "physical therapy"),
    ("See [PT]", "-"),
    ("Small pleural effusion. No [PE].", "pulmonary embolism"),
    ("Huntington's disease in the family. His [HD] is early.", "Huntington disease"),
    ("He denies [CP], SOB or palpitations.", "chest pain"),
    ("Spastic [CP], wheelchair bound, G-tube fed.", "cerebral palsy"),
    ("A [CP] angle mass.", "(cerebellopontine)"),
    ("CTA chest: no [PE].", "pulmonary embolism"),
    ("[PE] treated with apixaban.", "pulmonary embolism"),
    ("[PE]: vitals stable, lungs clear.", "(physical examination)"),
    ("Tapped 1 L at thoracentesis for the left [PE].", "pleural effusion"),
    ("PMH: [PE] 2015, DM.", "pulmonary embolism"),
    ("Old inferior [MI] in 2004.", "myocardial infarction"),
    ("Severe [MI] with a flail leaflet of the valve on echo, some TR.", "mitral regurgitation"),
    ("Critical [AS], planned for TAVR.", "aortic stenosis"),
    ("[AS] with sacroiliitis, HLA-B27 positive, on adalimumab.", "ankylosing spondylitis"),
    ("She presented [AS] planned.", "-"),
    ("[DM], on metformin.", "diabetes mellitus"),
    ("[DM] with heliotrope rash and raised CK.", "dermatomyositis"),
    ("Gait slow with resting tremor; [PD] on levodopa.", "Parkinson disease"),
    ("ESRD on [PD] with a peritoneal catheter.", "peritoneal dialysis"),
    ("VA 20/40 [OD], 20/20 OS.", "(right eye)"),
    ("Heroin [OD], given naloxone by EMS.", "overdose"),
    ("Lisinopril 10 mg [OD].", "(once daily)"),
    ("Abdomen soft, NT, positive [BS].", "(bowel sounds)"),
    ("Fasting [BS] 140, sliding scale insulin.", "(blood sugar)"),
    ("ESRD on [HD] via a tunneled catheter.", "hemodialysis"),
    ("Chorea and caudate atrophy, [HD] with 44 CAG repeats.", "Huntington disease"),
    ("On [HD] 4 she was transferred.", "(hospital day)"),
    ("[CHD] with two stents, on a statin after angina.", "coronary heart disease"),
    ("Cyanotic [CHD], VSD repaired as an infant.", "congenital heart disease"),
    ("Presented to the [ED] with chest pain.", "(emergency department)"),
    ("[ED], uses sildenafil.", "erectile dysfunction"),
    ("Relapsed [ALL], in induction chemotherapy with vincristine.", "acute lymphoblastic leukemia"),
    ("[ALL] MEDICATIONS WERE CONTINUED", "-"),
    ("Ptosis and diplopia, AChR positive: [MG].", "myasthenia gravis"),
    ("Aspirin 81 [mg] daily.", "(milligram)"),
    ("Recurrent bloody stools, [UC] on mesalamine.", "ulcerative colitis"),
    ("Fever and [UC] sent with UA.", "(urine culture)"),
    ("[CD] of the ileum with a perianal fistula, on infliximab.", "Crohn's disease"),
    ("Bilateral hilar [LAD], splenomegaly.", "lymphadenopathy"),
    ("Stent to the proximal [LAD], RCA clean.", "(left anterior descending coronary artery)"),
    ("[SCD] with pain crisis, on hydroxyurea.", "sickle cell disease"),
    ("[SCDs] and heparin for prophylaxis.", "(sequential compression device)"),
    ("Orthopnea and [PND] for a week, edema to the knees.", "paroxysmal nocturnal dyspnea"),
    ("[PND] with nasal congestion and cough.", "postnasal drip"),
    ("Patent [PDA] in a preterm newborn, treated with indomethacin.", "patent ductus arteriosus"),
    ("RCA and [PDA] free of disease.", "(posterior descending artery)"),
    ("HIV, on Bactrim for [PCP] prophylaxis.", "Pneumocystis pneumonia"),
    ("Follow up with his [PCP] in a week.", "(primary care physician)"),
    ("Weakness and areflexia, [GBS] treated with IVIG.", "Guillain-Barre syndrome"),
    ("Pregnant, [GBS] swab positive, penicillin in labor.", "group B streptococcus"),
    ("[TTP], schistocytes, low ADAMTS13.", "thrombotic thrombocytopenic purpura"),
    ("Abdomen [TTP] in the RLQ.", "(tender to palpation)"),
    ("He fell with brief [LOC] and head trauma.", "loss of consciousness"),
    ("Severe [HA] with photophobia and nausea.", "headache"),
    ("Breast [CA] in 2011.", "cancer"),
    ("Cirrhosis, ascites, [SBP] on ceftriaxone.", "spontaneous bacterial peritonitis"),
    ("[SBP] 110-120, DBP 70.", "(systolic blood pressure)"),
    ("2L NC, afebrile; [NS] bolus IV.", "(normal saline)"),
    ("Edema, proteinuria, albumin 1.9: [NS].", "nephrotic syndrome"),
    ("Renal [US] showed hydronephrosis.", "ultrasound"),
    ("Give [US] a call if worse.", "-"),
    ("Taken to the [OR].", "(operating room)"),
    ("Aspirin [OR] clopidogrel.", "-"),
    ("Medications:\n[NPH] 10 units qam", "insulin, isophane"),
    ("Gait apraxia, incontinence, [NPH], shunt placed.", "normal pressure hydrocephalus"),
    ("Heparin stopped for [HIT], platelets 40, argatroban.", "heparin-induced thrombocytopenia"),
    ("THE CAR [HIT] THE TREE", "-"),
    ("[PAD] with claudication.", "peripheral arterial disease"),
    ("HEATING [PAD] AT NIGHT", "-"),
    ("Rising creatinine, [ARF] from ATN.", "acute renal failure"),
    ("Intubated for hypoxic [ARF].", "acute respiratory failure"),
    ("[AKI] on CKD.", "acute kidney injury"),
    ("A. fib. on apixaban, [A. fib] again.", "atrial fibrillation"),
    ("Rate-controlled [afib].", "atrial fibrillation"),
    ("Two prior [DVTs].", "deep vein thrombosis"),
    ("Severe [PE] at 34 weeks with proteinuria, on magnesium.", "preeclampsia"),
    ("Alcohol use, pancreatic calcifications and [CP].", "chronic pancreatitis"),
    ("The glomeruli show thickening of the [GBM].", "(glomerular basement membrane)"),
    ("Left frontal [GBM], on temozolomide.", "glioblastoma"),
    ("Elbow locking in a gymnast, MRI with [OCD].", "osteochondritis dissecans"),
    ("[SLE]: cornea clear, anterior chamber quiet.", "(slit lamp examination)"),
    ("UA: large [LE], nitrites positive.", "(leukocyte esterase)"),
    ("Ionized [Ca] 1.1, Mg 1.8.", "(calcium)"),
    ("Headache and [AMS] at altitude, given acetazolamide.", "acute mountain sickness"),
    ("Dimple over the sacrum, [SBO] of L5 on the radiograph.", "spina bifida occulta"),
]  # fmt: skip

WORDS = [
    ("Runny nose and a [cold] for three days.", "common cold"),
    ("The left foot is [cold] and pulseless.", "cold extremities"),
    ("Worse in [cold] weather.", "(cold temperature)"),
    ("Malodorous vaginal [discharge].", "vaginal discharge"),
    ("[Discharge] medications were reviewed.", "(patient discharge)"),
    ("Long history of [depression].", "depression"),
    ("ST [depression] in the lateral leads.", "ST segment depression"),
    ("Wakes with heartburn, [reflux] despite omeprazole.", "gastroesophageal reflux"),
    ("Grade III [reflux] on VCUG.", "vesicoureteral reflux"),
    ("Complete [mole] evacuated by suction, hCG falling.", "hydatidiform mole"),
    ("A [mole] that changes.", "melanocytic nevus"),
    ("Unwitnessed [fall] with hip fracture.", "fall"),
    ("Platelets continued to [fall].", "(decrease)"),
    ("This may [lead] to bleeding.", "(to lead)"),
    ("Pica, [lead] of 40 mcg/dL in the blood.", "lead poisoning"),
    ("Intraocular [pressure] was normal.", "(intraocular pressure)"),
    ("[Shock] after a bee sting, with urticaria.", "anaphylactic shock"),
    ("Gastric ulcer on EGD. She knows of no cause. The [ulcer] was clipped.", "peptic ulcer"),
    ("An [ulcer].", "-"),
    ("The [ulcer] again; a corneal ulcer last year.", "corneal ulcer"),
    ("Medically [fit] for the ward.", "(physically fit)"),
    ("Witnessed [fit] with tongue biting.", "seizure"),
    ("Do not [crush] the tablets.", "(to crush a tablet)"),
    ("She gave up [anorexia].", "anorexia"),
]  # fmt: skip

OTHERS = [
    ("es", "Ingresa por [IC] descompensada, furosemida, edemas.", "insuficiencia cardíaca"),
    ("es", "Antecedentes: [HTA], DM2.", "hipertensión arterial"),
    ("es", "[PCR] 12 mg/l, leucocitos normales.", "(proteína C reactiva)"),
    ("es", "[PCR] presenciada, reanimado con adrenalina.", "parada cardiorrespiratoria"),
    ("es", "[IT] ligera con IM moderada en el eco.", "insuficiencia tricuspídea"),
    ("es", "[IT] hasta nueva valoración.", "-"),
    ("de", "[LE] bei TVT, Beginn mit Heparin.", "Lungenembolie"),
    ("de", "Z. n. [MI] mit Stent bei KHK.", "Myokardinfarkt"),
    ("de", "Echo: [MI] II. Grades, AI, Mitralklappe verdickt.", "Mitralklappeninsuffizienz"),
    ("de", "Früher [HWI].", "Harnwegsinfekt"),
    ("fr", "[PR] sous méthotrexate, anti-CCP positifs.", "polyarthrite rhumatoïde"),
    ("fr", "[IVG] à 8 SA, pas d'autre grossesse.", "interruption volontaire de grossesse"),
    ("fr", "[IVG] avec OAP, FEVG 30 %.", "insuffisance ventriculaire gauche"),
    ("fr", "ATCD : [HTA], BPCO.", "hypertension artérielle"),
    ("fr", "[PAC] traitée par amoxicilline, foyer droit.", "pneumonie aiguë communautaire"),
]


def meaning(language: str, marked: str, label: str = "") -> str:
    found = re.search(r"\[(.+?)\]", marked)
    assert found is not None
    text = marked.replace("[", "").replace("]", "")
    place = Surroundings(text).at(found.start(), found.end() - 2, label)
    sense = open_lexicon("clinical", language).sense(found[1], place)
    if sense is None or not sense.longs:
        return "-"
    return sense.longs[0] if sense.is_concept else f"({sense.longs[0]})"


@pytest.mark.parametrize(("sentence", "expected"), ENGLISH)
def test_english(sentence: str, expected: str) -> None:
    assert meaning("en", sentence) == expected


@pytest.mark.parametrize(("sentence", "expected"), WORDS)
def test_ordinary_words(sentence: str, expected: str) -> None:
    assert meaning("en", sentence) == expected


@pytest.mark.parametrize(("language", "sentence", "expected"), OTHERS)
def test_other_languages(language: str, sentence: str, expected: str) -> None:
    assert meaning(language, sentence) == expected
