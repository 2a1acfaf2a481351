"""Which language a text is in, by its function words; they are also its stop words.

A vote over about fifty words a language, deterministic and cheap: enough to choose a stemmer, not
a language detector. Scripts other than Latin are decided letter by letter in `analyse`. Negations
("not", "nie", "sin") are left out: they say something.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

DEFAULT: Final = "english"

# Snowball's name of the language: its function words, folded (NFKC, lower case, ß as ss).
STOP_WORDS: Final[dict[str, frozenset[str]]] = {
    name: frozenset(words.split())
    for name, words in {
        "english": (
            "a an the and or but if then than so of at by for with about into to from in on up out "
            "off over again as is am are was were be been being have has had having do does did "
            "doing done i me my mine myself we us our ours you your yours he him his she her hers "
            "it its they them their theirs this that these those what which who whom whose when "
            "where why how there here can could will would shall should may might must just also "
            "don didn doesn isn aren wasn weren won wouldn couldn shouldn hasn haven hadn"
        ),
        "german": (
            "der die das den dem des ein eine einen einem einer eines und oder aber wenn dann als "
            "so von an bei für mit über in im ins am zu zum zur aus auf ist bin bist sind seid war "
            "waren wird werden wurde worden sein habe hast hat haben hatte ich mich mir mein meine "
            "meinen meinem meiner du dich dir dein deine er ihn ihm sie es wir uns unser ihr euch "
            "ihre ihren sich man dies diese dieser dieses was wer wen wem welche welcher wann wo "
            "warum wie da hier kann könnte will würde soll sollte muss auch noch schon nur dass"
        ),
        "spanish": (
            "el la los las un una unos unas y e o u pero si que de del al a en por para con sobre "
            "es soy eres son era fue ser estar está estoy están estaba ha he han había hay yo me "
            "mi mis mí tú te ti tu tus él ella ello le lo se su sus nos nosotros nuestro nuestra "
            "ellos ellas les este esta esto estos estas ese esa eso qué cuál cuáles quién cuándo "
            "dónde cómo porque como más muy ya también cuando donde"
        ),
        "french": (
            "le la les un une des du de et ou mais si que qui quoi dont où à au aux en dans par "
            "pour avec sur chez est suis es sont était être été ai as a ont avait avoir je me moi "
            "mon ma mes tu te toi ton ta tes il elle on lui se son sa ses nous notre nos vous "
            "votre vos ils elles leur leurs ce cet cette ces quel quelle quand comment pourquoi "
            "comme plus très aussi y"
        ),
        "italian": (
            "il lo la i gli le un uno una e ed o ma se che chi di del della dei delle degli dello "
            "da dal dalla in nel nella nei a al alla ai alle con su sul sulla per è sono sei era "
            "essere stato ho hai ha hanno avere aveva io mi me mio mia miei mie tu ti te tuo tua "
            "lui lei si suo sua noi ci nostro voi vi loro questo questa questi quello quella cosa "
            "quale quali quando dove come perché più molto anche"
        ),
        "portuguese": (
            "o a os as um uma uns umas e ou mas se que de do da dos das em no na nos nas ao à aos "
            "às por pelo pela para com sobre é sou és são era foi ser estar está estou estão há "
            "tem tenho tinha eu me mim meu minha meus minhas tu te teu tua você ele ela lhe seu "
            "sua nós nosso nossa eles elas este esta isto esse essa isso aquele aquela qual quais "
            "quem quando onde como porque mais muito também"
        ),
        "dutch": (
            "de het een en of maar als dan dat die dit deze van aan bij voor met over in op te tot "
            "uit naar om is ben bent zijn was waren wordt worden werd heb hebt heeft hebben had ik "
            "mij me mijn jij je jou jouw hij hem zij ze haar wij we ons onze jullie hun hen u uw "
            "zich wat wie welke wanneer waar waarom hoe er hier daar kan zou wil zal moet ook nog"
        ),
        "swedish": (
            "en ett den det de dem och eller men om så att som av på i för med över till från vid "
            "är var vara varit blir blev har hade ha jag mig min mitt mina du dig din ditt dina "
            "han honom hans hon henne hennes vi oss vår vårt våra ni er era sig sin sitt sina "
            "denna detta dessa vad vem vilken vilket när var varför hur där här kan skulle vill "
            "ska måste också"
        ),
        "danish": (
            "en et den det de dem og eller men om så at som af på i for med over til fra ved er "
            "var være været bliver blev har havde jeg mig min mit mine du dig din dit dine han "
            "ham hans hun hende hendes vi os vores i jer jeres sig sin sit sine denne dette disse "
            "hvad hvem hvilken hvornår hvor hvorfor hvordan der her kan skulle vil skal må også"
        ),
        "norwegian": (
            "en ei et den det de dem og eller men om så at som av på i for med over til fra ved er "
            "var være vært blir ble har hadde jeg meg min mitt mine du deg din ditt dine han ham "
            "hans hun henne hennes vi oss vår vårt våre dere deres seg sin sitt sine denne dette "
            "disse hva hvem hvilken når hvor hvorfor hvordan der her kan skulle vil skal må også"
        ),
        "finnish": (
            "ja tai mutta jos kun että joka jotka se ne tämä nämä tuo on olen olet ovat oli olivat "
            "olla ollut minä minun minua minulla minulle sinä sinun sinulla hän hänen hänellä me "
            "meidän te teidän he heidän mikä mitä kuka milloin missä miksi miten kuin myös niin "
            "sekä vain"
        ),
        "polish": (
            "i oraz lub ale jeśli że który która które ten ta to te tego tej w we z ze na do od po "
            "o u za dla przy przez jest są był była było być mam ma mają ja mnie mi mój moja moje "
            "ty ciebie ci twój on jego jej ona ono my nas nasz wy was oni ich się co kto kiedy "
            "gdzie dlaczego jak czy już też tylko"
        ),
        "turkish": (
            "bir ve veya ama eğer ki bu şu o için ile gibi kadar daha çok de da mi mı mu mü ben "
            "bana beni benim sen sana seni senin onun ona onu biz bizim siz sizin onlar ne kim "
            "hangi nerede nasıl neden"
        ),
        "russian": (
            "и или но а если то что чтобы как так в во на с со к ко у о об от до из за по для при "
            "над под это этот эта эти того той тот та те есть был была было были быть буду будет я "
            "меня мне мной мой моя моё мое мои ты тебя тебе твой твоя твои он его ему она её ее ей "
            "оно мы нас нам наш наша вы вас вам ваш они их им себя свой кто какой какая какие "
            "когда где почему же ли бы уже тоже также"
        ),
    }.items()
}


def _votes() -> dict[str, tuple[str, ...]]:
    """For each function word, the Latin-script languages it speaks for."""
    votes: dict[str, tuple[str, ...]] = {}
    for language, words in STOP_WORDS.items():
        if language != "russian":
            for word in words:
                if len(word) == 1:
                    continue  # "a", "o", "e" stand in too many languages, and in names
                votes[word] = (*votes.get(word, ()), language)
    return votes


_VOTES: Final = _votes()


def vote(words: Iterable[str]) -> str:
    """The language of Latin-script words (folded): most function words, then the order above."""
    counts: dict[str, int] = {}
    for word in words:
        for language in _VOTES.get(word, ()):
            counts[language] = counts.get(language, 0) + 1
    if not counts:
        return DEFAULT
    most = max(counts.values())
    return next(language for language in STOP_WORDS if counts.get(language) == most)
