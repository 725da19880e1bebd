import { ownVoiceOf, wordsOf } from '../../../../provenance/text/index.ts'

/**
 * Words that are frequent in one language and rare in the others: function words suffice for texts
 * of a dozen words (Grefenstette 1995).
 */
const functionWords: Record<string, string> = {
  en: 'the and of to is that it you for with are this be your on have from can will not what would there which should we they been has was at by an or if as please',
  fr: 'le la les et des du de en un l d se tu te est que vous pour avec une dans ce sont votre nous pas qui sur au aux être cette il elle je ne mais ou où vos plus par bonjour merci',
  de: 'der die das und ist nicht sie ein eine zu mit für auf den dem von im ich es wir werden wird ihre ihr auch bei sind oder als kann haben bitte aus nach',
  es: 'el la los las de en un me le te les si ya muy todo tiene tenga e o ni y que es una para con su por está son del al pero usted puede como más no se lo nuestro hay gracias hola sus este esta desde',
  it: 'il gli la lo le un in se mi ti e a o che è di per con una sono del della nel non si più anche questo questa può come ma suo sua i ed grazie dal alla delle dei',
  pt: 'o os a as e um ou se me lhe tem tenha eu que é de para com uma não são do da em você seu sua por mais como está no na dos das pode obrigado ao pelo isso mas',
  nl: 'het een en of in ik zo van is dat niet voor met zijn op je u wij deze kan naar ook maar worden uw bij aan de te er wordt heeft',
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
/** Function words that a text needs: with fewer, close languages look alike. */
const hits_min = 3

/**
 * Returns the language of a text as ISO 639-1, or undefined if it is short or unclear: by its
 * script, otherwise by its function words, which speak at least twice as much for it as for the second
 * language.
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
  const hits = new Map<string, { words: number; weight: number }>()
  for (const word of words) {
    const languages = languagesOfWord.get(word) ?? []
    for (const language of languages) {
      const { words: count, weight } = hits.get(language) ?? { words: 0, weight: 0 }
      // A word of three languages says a third as much for each of them.
      hits.set(language, { words: count + 1, weight: weight + 1 / languages.length })
    }
  }
  const [first, second] = [...hits].sort(([, a], [, b]) => b.weight - a.weight)
  if (first === undefined) return undefined
  const [language, found] = first
  if (found.words < hits_min || found.words / words.length < share_min) return undefined
  return found.weight >= 2 * (second?.[1].weight ?? 0) ? language : undefined
}
