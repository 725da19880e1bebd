const words: Record<string, number> = {}
const lists = [
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty',
  'null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn zwanzig',
  'zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize',
  'cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince',
]
for (const list of lists) {
  for (const [value, word] of list.split(' ').entries()) words[word] ??= value
}
const tens = 'thirty forty fifty sixty seventy eighty ninety'.split(' ')
for (const [at, word] of tens.entries()) words[word] = (at + 3) * 10
words['dozen'] = 12
// These are common words of other languages, or pronouns.
for (const word of ['one', 'un', 'uno', 'null', 'once', 'acht', 'elf', 'mil', 'onze']) {
  if (word !== 'one') delete words[word]
}
/** Numbers in one language, words in another: they count only before a unit of their own. */
const beforeUnits = [
  '(?:acht|elf)(?= (?:tag|woche|monat|jahr|stunde|minute|sekunde|prozent|euro|uhr|franken|werktag|arbeitstag))',
  'onze(?= (?:jours?|semaines?|mois|ans?|heures?|minutes?|euros?))',
  'once(?= (?:días?|semanas?|meses|años?|horas?|minutos?|euros?))',
]
Object.assign(words, { acht: 8, elf: 11, onze: 11, once: 11 })
const free = Object.keys(words).filter((word) => !/^(?:acht|elf|onze|once)$/.test(word))

/** Matches a number word; its group is the word. */
export const numberWords = new RegExp(
  `(?<![\\p{L}\\p{N}-])(?:(?:${tens.join('|')}|twenty)-)?(?:${[...free, ...beforeUnits].join('|')})(?![\\p{L}\\p{N}])`,
  'giu',
)

/** Returns the number that a word such as "twelve" or "twenty-two" means. */
export function readNumberWord(text: string): number {
  return text
    .toLowerCase()
    .split('-')
    .reduce((sum, word) => sum + (Object.hasOwn(words, word) ? (words[word] ?? 0) : 0), 0)
}
