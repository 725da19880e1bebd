import type { Statement } from '../../contract.ts'
import { ownVoiceOf, wordsOf } from '../prose.ts'
import type { Breach, Instruction } from './instruction.ts'

/** Reads instructions such as "always answer in French". */
export function readLanguage({ sentence, body, is_lasting }: Instruction): Statement[] {
  for (const pattern of languagePatterns) {
    const value = findLanguageCode(pattern.exec(body)?.[1] ?? '')
    if (value === undefined) continue
    const lasts = is_lasting || lastingVerb.test(body)
    return [
      {
        kind: 'language',
        slot: 'language',
        value,
        holds: lasts ? 'always' : 'turn',
        quote: sentence,
      },
    ]
  }
  return []
}

const lastingVerb = /^(?:switch|change|stick|stay|continue|keep)\b|\binstead\b/i

const languagePatterns: readonly RegExp[] = [
  /^(?:only |exclusively )?(?:answer|reply|respond|write|speak|talk|communicate|converse|continue|say (?:it|that)|explain (?:it|that)|answer me|reply to (?:me|us|the user|users|the customer|customers)|respond to (?:me|us|the user|users|the customer|customers)|talk to me)(?: (?:only|exclusively|strictly|everything|always|to (?:me|us|the user|users|the customer|customers)|all (?:questions|messages))){0,3} (?:in|en|auf)(?: only)?(?: (?:formal|informal|simple|plain|polite|british|american))? (\p{L}+)/iu,
  /^(?:use|speak|switch to|switch back to|change to|stick to|stay in|keep to|go back to|continue in|write in)(?: only)?(?: (?:formal|informal|simple|plain|british|american))? (\p{L}+)(?: only| exclusively| for .{0,40}| from now on| instead| again| please|,? .{0,12})?[.!]?$/iu,
  /^(?:all|every|each|your)(?: of your)?(?: (?:answers?|repl(?:y|ies)|responses?|messages?|output)){1,2} (?:must|should|have to|has to|need to|needs to|are to|is to|will|shall)(?: always| only)? be (?:written |given )?(?:only |exclusively )?in (\p{L}+)/iu,
  /^(?:in )?(\p{L}+)(?:,)? (?:only|please)[.!]?$/iu,
  /^(?:in|auf|en) (\p{L}+)[.!]?$/iu,
  /^(?:antworte|antworten sie|schreibe?|sprich)(?: \p{L}+){0,3} (?:auf|in) (\p{L}+)/iu,
  /^(?:réponds|répondez|écris|parle)(?: \p{L}+){0,3} en (\p{L}+)/iu,
  /^(?:responde|responda|contesta|escribe|habla)(?: \p{L}+){0,3} en (\p{L}+)/iu,
]

/** Checks the language of an answer; an unknown language keeps the rule. */
export function checkLanguage(
  { value }: Statement,
  { language }: { language: string | undefined },
): Breach | undefined {
  if (language === undefined || language === value) return undefined
  return { violation: `The answer is in "${language}", not in "${value}".`, confidence: 0.9 }
}

/** Names of recognisable languages with their ISO 639-1 codes. */
const languageNames: Record<string, string> = {
  english: 'en',
  englisch: 'en',
  anglais: 'en',
  inglés: 'en',
  french: 'fr',
  français: 'fr',
  francais: 'fr',
  französisch: 'fr',
  german: 'de',
  deutsch: 'de',
  allemand: 'de',
  spanish: 'es',
  español: 'es',
  espanol: 'es',
  spanisch: 'es',
  italian: 'it',
  italiano: 'it',
  portuguese: 'pt',
  português: 'pt',
  dutch: 'nl',
  nederlands: 'nl',
  polish: 'pl',
  swedish: 'sv',
  turkish: 'tr',
  russian: 'ru',
  japanese: 'ja',
  chinese: 'zh',
  mandarin: 'zh',
  korean: 'ko',
  arabic: 'ar',
  hebrew: 'he',
  greek: 'el',
  hindi: 'hi',
  thai: 'th',
}

/** Returns the code of a language's name, in English or in some languages' own words. */
export function findLanguageCode(name: string): string | undefined {
  const low = name.toLowerCase()
  return Object.hasOwn(languageNames, low) ? languageNames[low] : undefined
}

/**
 * Words that are frequent in one language and rare in the others: function words suffice for texts
 * of a dozen words (Grefenstette 1995).
 */
const functionWords: Record<string, string> = {
  en: 'the and of to is that it you for with are this be your on have from can will not what would there which should we they been has was at by an or if as please',
  fr: 'le la les et des du est que vous pour avec une dans ce sont votre nous pas qui sur au aux être cette il elle je ne mais ou où vos plus par bonjour merci',
  de: 'der die das und ist nicht sie ein eine zu mit für auf den dem von im ich es wir werden wird ihre ihr auch bei sind oder als kann haben bitte aus nach',
  es: 'el los las y que es una para con su por está son del al pero usted puede como más no se lo nuestro hay gracias hola sus este esta desde',
  it: 'il gli che è di per con una sono del della nel non si più anche questo questa può come ma suo sua i le ed grazie dal alla delle dei',
  pt: 'o os que é de para com uma não são do da em você seu sua por mais como está no na dos das pode obrigado ao pelo isso mas',
  nl: 'het een en van is dat niet voor met zijn op je u wij deze kan naar ook maar worden uw bij aan de te er wordt heeft',
  pl: 'i w nie na się że jest do to z jak po dla przez są może oraz ale czy od twój państwa',
  sv: 'och att det som är en på för med av inte den till om har kan ett du din från eller vi',
  tr: 've bir bu için ile olarak de da çok daha değil var olan sizin siz ne gibi ama kadar',
}

const languagesOfWord = indexByWord()

function indexByWord(): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const [language, words] of Object.entries(functionWords)) {
    for (const word of words.split(' ')) found.set(word, [...(found.get(word) ?? []), language])
  }
  return found
}

const scripts: readonly [language: string, letters: RegExp][] = [
  ['ja', /[\p{Script=Hiragana}\p{Script=Katakana}]/gu],
  ['ko', /\p{Script=Hangul}/gu],
  ['zh', /\p{Script=Han}/gu],
  ['ru', /\p{Script=Cyrillic}/gu],
  ['ar', /\p{Script=Arabic}/gu],
  ['he', /\p{Script=Hebrew}/gu],
  ['el', /\p{Script=Greek}/gu],
  ['hi', /\p{Script=Devanagari}/gu],
  ['th', /\p{Script=Thai}/gu],
]

const words_min = 6
const words_max = 400
const share_min = 0.18

/**
 * Returns the language of a text as ISO 639-1, or undefined if it is short or unclear: by its
 * script, otherwise by its share of function words, at least twice that of the second language.
 */
export function identifyLanguage(text: string): string | undefined {
  const voice = ownVoiceOf(text).replace(/https?:\/\/\S+/g, ' ')
  const letters = voice.match(/\p{L}/gu)?.length ?? 0
  for (const [language, pattern] of scripts) {
    const share = (voice.match(pattern)?.length ?? 0) / Math.max(1, letters)
    if (share > (language === 'ja' ? 0.2 : 0.6) && letters >= 6) return language
  }
  const words = wordsOf(voice).slice(0, words_max)
  return words.length < words_min ? undefined : identifyLatinLanguage(words)
}

function identifyLatinLanguage(words: readonly string[]): string | undefined {
  const hits = new Map<string, number>()
  for (const word of words) {
    for (const language of languagesOfWord.get(word) ?? []) {
      hits.set(language, (hits.get(language) ?? 0) + 1)
    }
  }
  const [first, second] = [...hits].sort(([, a], [, b]) => b - a)
  if (first === undefined || first[1] < 2 || first[1] / words.length < share_min) return undefined
  return first[1] >= 2 * (second?.[1] ?? 0) ? first[0] : undefined
}
