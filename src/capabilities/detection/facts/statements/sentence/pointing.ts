const pronoun = '(?:them|it|those|that|these|any|either|one|none)'
const end =
  '(?=\\s*(?:[.,;:!?()]|$)|\\s+(?:any ?more|again|ever|please|pls|from|here|in|at|out|off|away|for|entirely|completely|altogether|too|anywhere|now|with|then|of (?:it|them|those))(?!\\p{L}))'
const ofWriting =
  '(?:\\p{L}{2,}ing|use|draw|output|include|write|send|add|put|give|show|make|produce|insert|do|say|type|try|print|show me|give me|send me|want to (?:see|read|meet|hear)|need|want)'

/** Words that forbid by a pronoun what was named before them; each line is a family. */
const pointing: readonly string[] = [
  `(?:(?:answers|replies|messages|you) (?:contain|have|use|carry|include) none(?!\\p{L})|(?:don't|didn't|did not|do not|dont|never|no longer|stop|quit|avoid|refrain from|better not)(?: (?:ever|even|bother|you|to|me|go))*(?: ${ofWriting}){1,2} ${pronoun}${end})`,
  `(?:avoid|skip|drop|ditch|lose|scrap|omit|ban|cut|delete|remove|kill|forget|spare me|leave out|keep out|cut out|do without|go without|write without|work without|answer without|manage without|stay away from|steer clear of|keep away from|no[ ]more of|none of|enough of) (?:all of )?${pronoun}${end}`,
  '(?:leave|keep|turn|switch|cut|take|rule|strip|edit) (?:(?:all of )?(?:them|it|those|that)|any) (?:all )?(?:out|away|off|aside|to yourself)',
  "(?:have|has|need|needs|'ve got|must|ought)(?: got)?(?: to)? (?:go|stop|disappear|vanish|end)(?=\\s*(?:[.,;!]|$)| from| now| please)",
  `(?:use |want |send |need |with )?(?:none|not (?:a single |even )?one|never again|not any ?more|no[ ]more of (?:them|that|those|it)|not (?:here|in your (?:answers|replies|messages)|with me|to me))${end}`,
  "(?:just |so )?(?:please )?(?:don't|dont|do not|never)(?=\\s*(?:[.,;!]|$))",
  '(?:lass|lassen sie)(?: sie| es| das| die)+(?: bitte| ganz)? weg|verzichte(?:n sie)?(?: bitte| ganz)? darauf|(?:ver)?meide(?:n sie)? (?:sie|das|es|die)|(?:bitte )?(?:nie|nicht) (?:mehr|wieder)(?!\\p{L})|weg damit|(?:stell|verwend|benutz|schreib|mach|nutz)\\p{L}*(?: \\p{L}+){0,5} keine? (?:mehr|davon)(?!\\p{L})',
  "(?:évite|évitez|supprime|supprimez|oublie|oubliez|laisse|laissez)-(?:les|la|le)(?!\\p{L})|(?:ne |n')?(?:les|en|l') ?\\p{L}+ (?:pas|jamais|plus)(?!\\p{L})|plus jamais(?!\\p{L})|sans (?:ça|cela)(?!\\p{L})",
  'evíta(?:l[oa]s?)(?!\\p{L})|quíta(?:l[oa]s?)(?!\\p{L})|no l[oa]s? (?:uses|use|pongas|ponga|quiero)(?!\\p{L})|sin ell[oa]s(?!\\p{L})|nunca más(?!\\p{L})',
]
/** A person before such words tells what is usual: "we never use them". */
const ofPeople =
  '(?<!(?<!\\p{L})(?:i|we|they|he|she|who|people|that|which|users?|customers?|clients?|guests?) )'
const behind = new RegExp(`(?<!\\p{L})${ofPeople}(?:${pointing.join('|')})`, 'iu')
const lead = '(?:(?:so|and|please|pls|but|just|ok|okay|also|then|now|i said|again)[ ,]+)*'
const atStart = new RegExp(`^${lead}(?:${pointing.join('|')})`, 'iu')

/** Tells whether a sentence forbids what the sentence before it names: "Leave them out." */
export function pointsBack(sentence: string): boolean {
  return atStart.test(sentence)
}

/**
 * Returns where words behind a topic forbid it by a pronoun, from the start of the text: "our filter
 * eats links, so don't send any"; undefined without them.
 */
export function findBanBehind(text: string, topicEnd: number): number | undefined {
  const rest = text.slice(topicEnd, topicEnd + reach_chars_max)
  const found = behind.exec(rest)
  return found === null ? undefined : topicEnd + found.index
}

const reach_chars_max = 160
