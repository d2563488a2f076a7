"""Common words of English answers, which name nothing in a result."""

from __future__ import annotations

import re

_COMMON = """
a about above accordingly according account across actually additional additionally admission
admissions admit admitted after again ago ah alive all almost along already also although
altogether always am among amount an and another answer answers any anyone approximately are
around as ask asked at available average based be because become been before being below best
between biggest both bottom but by can case cases category code combined common compare compared
contain contains corresponding could count counted counts data database dataset date dates day
days dead decrease decreased did died different difference distinct do does done down due during
each earlier earliest eight either eleven else ended ending entries entry equal equals etc even
ever every exactly exceed exist exists fell few fewer fewest fifth figure final finally find first
five follow followed following follows for found four fourth frequency frequent from further gave
get gets give given gives go going got greater greatest group grouped grew had half happen
happened has have having he hello help hence her here high higher highest his hope hospital hour
hours how however hundred i id if in include included includes including increase increased indeed
individual instance instances into is it item items its itself just kind know known largest last
latest lead leading least less let like list listed lists longest look looking looks low lower
lowest made main make makes many matched matching maximum may me mean means measured median
million minimum minute minutes month months more most much my name named names namely nearly need
next nine no nobody none nor not note noted nothing now null number numbers observe observed occur
occurred of on once one only onto or order ordered orders other others our out over overall own
part patient patients people per percent percentage person place please point portion possible
present previous quantity query question rank ranked ranking rate ratio reached received receive
record recorded records register registered remain remaining report reported represent represents
request requested respectively result resulted results retrieved return returned returns rose rows
row said same say says second see seen set seven several share she should show showed shown shows
since single six size smallest so some sorry sort sorted still such sum summary sure table take
taken takes tell ten than thank that the their them then there therefore these they third this
those thousand three through thus tie tied time times to together told top total totals two type
types under unique unit units unfortunately up upon use used using value values was we week weeks
well were what when where whereas whether which while who whom whose will with within without
would year years yes yet you your zero won't didn't don't doesn't isn't aren't wasn't weren't
there's it's specific specifically particular exact roughly estimated range ranges ranging max min
avg worst commonly frequently mostly primarily typically currently recently usually often never
always prescribed prescription prescriptions administered given drug drugs medication medications
diagnosis diagnoses diagnosed procedure procedures test tests lab labs stay stays visit visits
male female men women man woman gender sex age aged old older young younger oldest youngest ward
department insurance status ordering appear appears appeared ones certain various respective
starting begin began begins end start started starts until till ran run here's that's amongst
customer customers product products sale sales sold revenue price prices cost costs employee
employees company companies city cities country countries book books author authors movie movies
born died took taken county state street avenue road university positive negative normal abnormal
placed mmhg meq mmol mcg iu ml dl mg kg score scored level levels song songs student students
school schools team teams player players game games
"""

COMMON = frozenset(_COMMON.split())
"""In lower case. Our list, from the wording of answers about tables."""

_ACRONYMS = """
sql id ids icd cpt url uuid iso json usa us uk eu am pm icu ed er iv ok null na utc gmt no yes i
avg max min db csv top faq eur usd gbp chf jpy
"""
ACRONYMS = frozenset(_ACRONYMS.split())
"""Acronyms that name nothing in a result, in lower case."""

_CALENDAR = """
january february march april may june july august september october november december
jan feb mar apr jun jul aug sep sept oct nov dec
monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun
"""
CALENDAR = frozenset(_CALENDAR.split())

ALIASES = {
    "f": ("female", "females", "woman", "women", "girl", "girls"),
    "m": ("male", "males", "man", "men", "boy", "boys"),
    "female": ("f", "females", "woman", "women", "girl", "girls"),
    "male": ("m", "males", "man", "men", "boy", "boys"),
    "y": ("yes", "true"),
    "n": ("no", "false"),
    "yes": ("y", "true"),
    "no": ("n", "false"),
    "true": ("yes",),
    "false": ("no",),
}
"""Codes in tables → the words that a sentence uses for them."""

OPPOSITES = {"f": "m", "m": "f", "female": "male", "male": "female"}

_ENGLISH = """
the of is are there and has have had no yes that most with from by for total result was were
"""
_FOREIGN = """
der die das und ist sind es gibt von mit für im den dem ein eine nicht auf el la los las del y hay
son en con para una le les des et il est dans sont avec pour di che sono della per con non os da em
são não com het een zijn er waren met och är det
"""


def is_english(text: str) -> bool:
    """Return whether a text is English, so that names can be recognised; True for bare names."""
    words = set(re.findall(r"[^\W\d_]+", text.lower()))
    if words & set(_ENGLISH.split()) - {"was"}:
        return True
    return not words & set(_FOREIGN.split()) and any(map(str.isascii, words))


def stem(word: str) -> str:
    """Return a word in lower case without its most common endings."""
    word = word.lower().removesuffix("'s").removesuffix("’s")
    for ending in ("ing", "ies", "ed", "es", "ly", "s"):
        if len(word) > len(ending) + 3 and word.endswith(ending):
            return word.removesuffix(ending)
    return word


COMMON_STEMS = frozenset(map(stem, COMMON))
