import type { Statement } from '../../../contract.ts'
import type { Segment } from '../sentence/segments.ts'

/** Whether answers are about a topic only, or never. */
type Limit = 'only' | 'none'

/** The words before a topic, by language: a new wording is one more word here. */
const before: readonly (readonly [limit: Limit, words: string])[] = [
  // English
  [
    'only',
    '(?:(?:only|exclusively) (?:answer|take|handle|respond to|reply to)|(?:answer|take|handle|respond to|reply to) (?:only|exclusively)|stick to) (?:questions|requests|queries|inquiries) (?:about|on|regarding|concerning|related to)',
  ],
  ['only', '(?:only|exclusively) (?:discuss|talk about|speak about)'],
  [
    'none',
    "(?:never|do not|don't|must not|may not) (?:ever )?(?:talk about|discuss|speak about|chat about|(?:answer|take|respond to|reply to) (?:any )?questions (?:about|on|regarding|concerning)|(?:raise|touch on|bring up) the (?:topic|subject) of)",
  ],
  ['none', 'avoid (?:the (?:topic|subject) of|talking about|discussing)'],
  // German
  [
    'only',
    '(?:beantworte|beantworten sie) (?:nur|ausschließlich) (?:fragen|anfragen) (?:zu[mr]?|über|rund um)|(?:sprich|rede|sprechen sie|reden sie) (?:nur|ausschließlich) (?:über|von)',
  ],
  [
    'none',
    '(?:sprich|rede|diskutiere|sprechen sie|reden sie|diskutieren sie) (?:nie|niemals|nicht) (?:über|von)|(?:beantworte|beantworten sie) (?:niemals |nie )?keine fragen (?:zu[mr]?|über)',
  ],
  // French
  [
    'only',
    "(?:réponds|répondez) (?:uniquement|seulement|exclusivement) aux questions (?:sur|concernant|à propos de)|ne (?:réponds|répondez) qu'aux questions (?:sur|concernant)|ne (?:parle|parlez|discute|discutez) que (?:de|d')",
  ],
  [
    'none',
    "ne (?:parle|parlez|discute|discutez) (?:pas|jamais) (?:de|d')|ne (?:réponds|répondez) (?:pas|jamais) aux questions (?:sur|concernant)|évitez? (?:de parler|le sujet) (?:de|d')",
  ],
  // Spanish
  [
    'only',
    '(?:responde|responda|contesta|conteste) (?:solo|sólo|solamente|únicamente|exclusivamente) (?:a )?(?:las )?preguntas (?:sobre|de|acerca de)|(?:solo|sólo|solamente|únicamente) (?:habla|hable) (?:sobre|de)',
  ],
  [
    'none',
    '(?:no|nunca) (?:hables|hable|discutas|discuta) (?:sobre|de|acerca de)|(?:no|nunca) (?:respondas|responda|contestes|conteste) (?:a )?(?:las )?preguntas (?:sobre|de|acerca de)',
  ],
]

/** Chinese and Japanese, where words also follow the topic. */
const around: readonly (readonly [limit: Limit, pattern: RegExp])[] = [
  [
    'only',
    /只(?:能|可以)?(?:回答|讨论|谈论|处理)(?:关于|有关|与)?([^,,。的]{1,12}?)(?:相关|有关)?的(?:问题|话题|内容)/u,
  ],
  [
    'none',
    /(?:不要|不得|不能|禁止|请勿|切勿|别)(?:谈论|讨论|谈及|聊|回答(?:关于|有关))([^,,。的]{1,12}?)(?:的?(?:话题|问题))?(?=[,,。!!]|$)/u,
  ],
  [
    'only',
    /([^、,。はを]{1,12}?)(?:に関する|についての|に関連する)(?:質問|話題)(?:に|を)?(?:だけ|のみ)/u,
  ],
  [
    'none',
    /([^、,。はを]{1,12}?)(?:について(?:は)?(?:決して)?(?:話さ|語ら|答え|触れ|議論し)ない|の(?:話|話題)(?:は|を)(?:し|出さ)ない|に関する質問に(?:は)?答えない)/u,
  ],
]

const latin = before.map(
  ([limit, words]) =>
    [limit, new RegExp(`(?<!\\p{L})(?:${words}) ?([^.;:!?()]{2,80})`, 'iu')] as const,
)

/** Reads the topics that answers are limited to, or must not have. */
export function readTopicLimits(segment: Segment): Statement[] {
  const text = segment.text.replaceAll('’', "'")
  return [...latin, ...around].flatMap(([value, pattern]) => {
    const match = pattern.exec(text)
    if (match === null || !segment.isAskedAt(match.index)) return []
    const subjects = readSubjects(match[1] ?? '')
    return subjects.map(
      (subject): Statement => ({
        kind: 'topic',
        slot: `topic:${subject}`,
        value,
        holds: 'always',
        quote: segment.sentence,
      }),
    )
  })
}

const joiners =
  /, (?:and |or |und |oder |et |ou |y |o )?| (?:and|or|nor|und|oder|et|ou|ni|y|o) |、|和|や|以及/iu
const tail =
  / (?:at all|here|ever|please|in (?:your|any|all|this|these)|with (?:users?|customers?|anyone|me)|in (?:deinen|allen)|bitte|dans (?:tes|vos)|en (?:tus|sus)).*$/iu
const determiner =
  /^(?:(?:the|our|my|your|any|all|other|der|die|das|den|dem|le|la|les|l'|el|los|las|mi|nuestr[ao]s?|unsere[nrm]?|nos|notre) ?)+(?=\p{L})/iu
const general =
  /^(?:it|this|that|these|those|them|things?|anything|nothing|everything|something|yourself|me|us|you|what.*|how.*|who.*|why.*|where.*|when.*|topics?|questions?|es|das|dies|mich|ça|cela|moi|eso|esto|ello|mí|这个?|那个?|它|これ|それ|あれ)$/iu
const subject_words_max = 3

/** Returns the topics of a list; none if one of its parts is a longer text or only points to something. */
function readSubjects(list: string): string[] {
  const parts = list
    .replace(tail, '')
    .split(joiners)
    .map((part) => part.trim().replace(determiner, '').toLowerCase())
  const areTopics = parts.every(
    (part) =>
      /^[\p{L}\p{N}][\p{L}\p{N}' ー-]*$/u.test(part) &&
      part.split(' ').length <= subject_words_max &&
      !general.test(part),
  )
  return areTopics ? parts : []
}
