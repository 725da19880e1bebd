import { findPhrase } from '../../../provenance/text/index.ts'
import type { Statement } from '../../contract.ts'
import { findTopics } from './reading/find-topics.ts'
import { isQuestion } from './sentence/mood.ts'
import { phrasesIn } from './sentence/quotes.ts'
import { isLasting } from './sentence/scope.ts'
import type { Segment } from './sentence/segments.ts'
import { findLanguageCode, languageSource } from './vocabulary/language-names.ts'

/** The rules that a user's message lifts: all, or those of these slots and words. */
export type Release = {
  isAll: boolean
  /** True if it holds for one answer: "just this once you can write more". */
  isOnce: boolean
  slots: readonly string[]
  phrases: readonly string[]
  /** A word of the rules that it lifts: "quit the pirate thing". */
  about?: string
}

/** Phrases that lift a rule; each line is a family of wordings. */
const cues: readonly string[] = [
  "(?:you|u|we)(?:'re| are)? (?:can|may|could|free to|allowed to|welcome to)(?: now| again| also)?(?! only| not)|feel free|(?:it(?:'s| is)|that's|is|are)? ?(?:ok|okay|fine|alright|allowed|permitted|welcome|possible) (?:to|now|again|from)|(?:is|are) (?:ok|okay|fine|allowed|welcome|back)",
  "no longer(?! than)|no need|(?:not|n't) (?:needed|necessary|required|need)|(?:do not|don't|needn't|need not)(?: have to| need(?: to| the| any| it| them)?)?(?= (?:have|need|bother|worry|stick|keep|sign|end|start|limit|restrict|hold back|any|write in|answer in))|don't (?:need|bother|worry|have to)|needn't",
  "forget(?: about)?|ignore|drop|lift(?:ed)?|take back|withdraw|revoke|scrap|cancel(?:led)?|remove|undo|abandon|relax(?:ed)?|skip|lose|leave (?:out|off|away|the .{2,40} (?:out|off|away))|never mind|disregard|waive|suspend|end of (?:the )?|enough (?:of|with)|done with|that's it (?:for|with)|take (?:off|away) the|get rid of|without the|stop(?: with)?(?: the)?(?: \\p{L}+ing)?|quit|no[ ]more(?! than)|(?:is|are|'s) (?:over|gone|off|lifted|history|done|finished|superseded|replaced|void|obsolete|retired|withdrawn|revoked|repealed|rescinded|suspended|null)|rescind|repeal|annul|supersede|overrule|retract|abolish|rescinded|(?:ends|stops|ceases|lapses|expires)(?: here| now| today| with this)?(?=[.,;!]|$)|exempt(?: from)?|release(?:d)? (?:you )?from|scratch|swap|can go|expired?",
  'as (?:long|much|many|detailed|verbose)(?: \\p{L}+)? as you|unlimited|no (?:word |length )?limits?|without (?:a |any )?limits?|write more|(?:no|without)(?: the| any| a)? (?:signature|sign-?off|closing line|prefix|greeting|catchphrase)s?|any ?more|(?:go |switch |come |change )?back to (?:normal|the old|usual|how|your (?:usual|normal)|full|long|regular|ordinary)|as (?:usual|normal|before) again|normal(?:ly)? again|again(?= please|[.!,]|$)|as you (?:like|want|wish|please)|however you (?:like|want)|instead of|what(?:ever) (?:length|format|you)',
  '(?:gilt|gelten) nicht mehr|wieder (?:ok(?:ay)?|in ordnung|möglich)|nicht mehr (?:nötig|nur|so|auf|an|in|mit)|musst? (?:du )?nicht mehr|brauchst? (?:du )?(?:nicht|kein\\p{L}*)(?: mehr)?|(?:du )?(?:kannst|darfst|dürfen|können)(?: sie| du)?(?: jetzt| nun| wieder| gerne?)*|vergiss|vergessen sie|ist aufgehoben|lass (?:das|die|den)|wieder (?:normal|lang\\p{L}*|länger|ausführlich\\p{L}*|erlaubt|gerne?)|kein\\p{L}* \\p{L}+ mehr (?:nötig|nötig)|egal',
  'olvida(?:te)?(?: de)?|olvídate|ya (?:puedes|no (?:hace falta|es necesario|tienes que|necesito|hay que))|puedes (?:volver|usar|escribir|ya)|no hace falta|deja (?:de|la|el|las|los)|quita|ignora|se acabó|otra vez|de nuevo|vuelve a',
  "oublie[zs]?|laisse tomber|(?:tu peux|vous pouvez)(?: maintenant| de nouveau| à nouveau)?|plus (?:besoin|la peine|nécessaire|obligé)|ce n'est plus|pas la peine|pas besoin|arrête[zs]?|abandonne|reviens|lève|c'est fini",
  '(?:不用|不必|无需|不需要|可以不|取消|解除|忘(?:掉|了)|算了|不再需要|不限|别管|恢复|不用再|可以(?:随便|再|继续|重新|写|用|恢复|长|详细|多))|没(?:有)?限制',
  '(?:なくて(?:も)?(?:いい|よい|良い|大丈夫|構|かま|結構|OK)|しなくて|もう.{0,20}(?:いい|大丈夫|結構|不要|いりません|要りません)|(?:使って|書いて|長くて|英語で|長めで|答えて)も(?:いい|よい|大丈夫|構)|解除|やめ(?:て|ましょ|にし)|忘れて|戻して|元に戻|必要(?:は)?(?:ない|ありません)|自由に)',
]
const cue = new RegExp(`(?<![\\p{Script=Latin}])(?:${cues.join('|')})(?![\\p{Script=Latin}])`, 'iu')

/** Phrases that permit or need something no longer, so that no rule is read beside them. */
const permits =
  /(?<![\p{L}])(?:(?:you|u) (?:can|may|could|are (?:free|allowed|welcome) to)(?! only| not| never)(?=[^,;]*\b(?:again|now|if you|as you|also|too|longer|long|what(?:ever)|however|stop|drop|forget|skip|leave|go back))|don't (?:have to|need to|need|bother)|do not (?:have to|need to|need)|needn't|no need|no longer (?:need|have|necessary|required|appl)\p{L}*|not (?:necessary|needed|required)|feel free|isn't (?:necessary|needed|required)|aren't (?:necessary|needed|required)|(?:kannst|darfst|können|dürfen)(?: du| sie)? (?:\p{L}+ )?wieder|(?:musst|brauchst|müssen|brauchen)(?: du| sie)? (?:\p{L}+ ){0,4}nicht mehr|nicht mehr nötig|ya (?:puedes|no (?:hace falta|es necesario|tienes que|necesito))|puedes volver|no hace falta|(?:tu peux|vous pouvez)(?: maintenant)? (?:de nouveau|à nouveau|re)|plus (?:besoin|la peine|obligé|nécessaire)|pas besoin)(?![\p{L}])|不用再|不必再|无需再|可以不用|不需要再|可以(?:恢复|重新|继续|.{0,10}了)|なくて(?:も)?(?:いい|よい|良い|大丈夫|構|かま|結構|OK)/iu

/** Tells whether a part of a message permits something, or calls it unnecessary. */
export function isPermission(text: string): boolean {
  return permits.test(text) && !keeps.test(text)
}

/** Words that keep a rule despite a cue beside them. */
const keeps =
  /(?<![\p{L}])(?:stays?|remains?|keep|keeps|still (?:applies|holds?|counts?|goes)|don't (?:forget|drop|skip|leave|stop)|do not (?:forget|drop|skip|leave|stop)|never (?:forget|drop|skip)|bleibt|gilt (?:weiter|noch)|sigue|queda|reste)(?![\p{L}])|保留|そのまま|不变/iu

/** Words of rules that have no topic of their own, by slot. */
const ruleWords: readonly (readonly [slot: string, words: RegExp])[] = [
  [
    'length',
    /(?<!\p{L})(?:(?:word|length|character|sentence|line|size)s?(?: count)?[ -]?(?:limits?|caps?|maximum|restrictions?|rule)?|limits?|(?:shorter|longer|long|short|brief|length|lengthy|detail(?:ed|s)?|elaborate|expand|full|brevity)|sentences?|paragraphs?|characters?|(?:wort|satz|zeichen|wörter)(?:limit|grenze|zahl|begrenzung)\p{L}*|länge\p{L}*|lang(?:e[rnms]?)?|länger|kurz|ausführlich\p{L}*|wort(?:limit|grenze|zahl)|sätze|satz|wörter|begrenzung|límite|largo|largas|extens\p{L}+|palabras|frases|longueur|long\p{L}*|limite|mots|phrases|détaill\p{L}+)(?!\p{L})|字数|长度|长一点|详细|短|句|文字|文で|長|一文|字|长/iu,
  ],
  [
    'required:end',
    /(?<!\p{L})(?:sign(?:ing|ature|atures|-?off)?|last (?:line|word)|closing (?:line|phrase)|ending|end(?:ing)? with|unterschrift|signatur|firm\p{L}*|signature|signer)(?!\p{L})|署名|签名|结尾/iu,
  ],
  [
    'required:start',
    /(?<!\p{L})(?:prefix|opening (?:line|word|phrase)|start(?:ing)? with|first word|greeting|begin(?:ning)? with|salutation)(?!\p{L})|开头/iu,
  ],
  [
    'uses',
    /(?<!\p{L})(?:the word|that word|keyword|phrase|word thing|das wort|la palabra|le mot)(?!\p{L})|那个词|あの言葉/iu,
  ],
  [
    'language',
    new RegExp(
      `(?<!\\p{Script=Latin})(?:languages?|sprache|idioma|langue|${languageSource})(?!\\p{Script=Latin})|语言|言語`,
      'iu',
    ),
  ],
  [
    'case',
    /(?<!\p{L})(?:shout(?:ing)?|caps|normal (?:case|spelling|letters)|capitali[sz]e)(?!\p{L})/iu,
  ],
  [
    'shape',
    /(?<!\p{L})(?:format(?:ting)?|prose|structure|free text|full sentences|markdown)(?!\p{L})|格式|形式/iu,
  ],
  [
    'bullets',
    /(?<!\p{L})(?:prose|running text|normal text|paragraphs|full sentences|fließtext|texto corrido|texte continu)(?!\p{L})/iu,
  ],
  ['table', /(?<!\p{L})(?:prose|running text|normal text|paragraphs|fließtext)(?!\p{L})/iu],
  [
    'letter',
    /(?<!\p{L})(?:letters?|lipogram|letter game|buchstaben?|letra|lettre)(?!\p{L})|字母/iu,
  ],
  ['persona', /(?<!\p{L})(?:role|persona|character|pirate|act)(?!\p{L})/iu],
]

/** The whole set of rules: "forget all the rules", "back to normal". */
const everything =
  /(?<!\p{L})(?:(?:all|any|my|the|those|these|your)?(?: the| of the| my| these| those| previous| earlier| style| formatting)* (?:rules?|restrictions?|instructions?|constraints?|conditions?|limits|guidelines|game|prohibitions?|interdictions?|bans?|embargo(?:es)?|(?:rule|article|clause|condition) (?:one|two|three|\d)|oath|vow)|back to normal|normally|normal(?: again| mode| answers?| replies)|as (?:usual|normal)|(?:all|what) i said|everything i said|regeln|vorgaben|alles|reglas|restricciones|todo eso|règles|consignes|contraintes|normal)(?!\p{L})|规则|要求|限制|ルール|制限|普通/iu
/** A cue that points to a rule by a pronoun: "you can stop that now". */
const pointing =
  /(?<!\p{L})(?:stop|drop|forget|ignore|cancel|scrap|quit|lift|arrête|oublie|olvida|lass|vergiss)(?: with| about| de)? (?:that|it|this|ça|eso|das|es|now)(?!\p{L})/iu

/** "Quit the pirate thing", "end the haiku mode". */
const ofThing =
  /(?<!\p{L})(?:quit|stop|drop|forget|end|enough (?:of|with)|no more|done with|lose) (?:with )?(?:the |this |that |your )?(\p{L}{3,}) (?:thing|voice|act|game|talk|style|mode|bit|stuff|business|routine|rule)(?!\p{L})/iu

/** Reads what a part of a user's message lifts; undefined if it lifts nothing. */
export function readRelease({ text, phrases, condition, isOnce }: Segment): Release | undefined {
  const isCue =
    cue.test(text) || (isLasting(text) && !/(?<!\p{L})always|never(?!\p{L})/iu.test(text))
  if (!isCue || keeps.test(text) || condition !== undefined || isQuestion(text)) return undefined
  const slots = new Set(findTopics(text).map(({ topic }) => topic.slot))
  for (const [slot, words] of ruleWords) if (words.test(text)) slots.add(slot)
  if (slots.size === 0 && /(?<!\p{L})\d{1,4}(?!\p{L})/u.test(text)) slots.add('length')
  const quoted = phrasesIn(text, phrases).map((phrase) => phrase.toLowerCase())
  const isAll =
    slots.size === 0 && quoted.length === 0 && (everything.test(text) || pointing.test(text))
  const about = ofThing.exec(text)?.[1]?.toLowerCase()
  if (!isAll && slots.size === 0 && quoted.length === 0 && about === undefined) return undefined
  const said = [...quoted, text.toLowerCase()]
  return { isAll, isOnce, slots: [...slots], phrases: said, ...(about !== undefined && { about }) }
}

/** Tells whether a release lifts a rule. Facts are not lifted. */
export function lifts(release: Release, rule: Statement): boolean {
  if (rule.kind === 'fact' || rule.kind === 'tool') return false
  return (
    release.isAll ||
    (release.about !== undefined && rule.quote.toLowerCase().includes(release.about)) ||
    slotsOf(rule).some((slot) => release.slots.includes(slot)) ||
    phrasesOf(rule).some((phrase) =>
      release.phrases.some((text) => findPhrase(text, phrase) !== -1),
    )
  )
}

/** Returns the slots of releases that lift a rule. */
function slotsOf({ slot, kind }: Statement): readonly string[] {
  const known = Object.hasOwn(slotsBySlot, slot) ? slotsBySlot[slot] : undefined
  if (known !== undefined) return known
  if (kind === 'length') return ['length']
  return kind === 'forbidden' ? [] : [slot, slot.split(':')[0] ?? '']
}

const slotsBySlot: Record<string, readonly string[]> = {
  'length:bullets': ['length', 'bullets'],
  shape: ['shape', 'bold'],
  bold: ['bold', 'shape'],
  italics: ['italics', 'shape'],
  heading: ['heading', 'shape'],
  bullets: ['bullets', 'shape'],
  table: ['table', 'shape'],
  code: ['code', 'shape'],
  ending: ['question'],
  digits: ['digits', 'numbers'],
  numbers: ['digits', 'numbers'],
  'required:start': ['required:start'],
  'required:end': ['required:end'],
}

/** Returns the words whose mention in a release lifts a rule. */
function phrasesOf({ kind, slot, value }: Statement): string[] {
  if (slot.startsWith('uses:')) return [slot.slice('uses:'.length)]
  if (slot.startsWith('sign:')) return [slot.slice('sign:'.length)]
  return kind === 'forbidden' || kind === 'required' ? [value] : []
}

/** Returns a text without the parts that say that a rule stays. */
export function withoutKept(text: string): string {
  return text
    .split(/(?<=[.!?])\s|,? but /)
    .filter((part) => !keeps.test(part))
    .join(' ')
}

/** Tells whether a word is the name of a language. */
export function isLanguageName(word: string): boolean {
  return findLanguageCode(word) !== undefined
}
