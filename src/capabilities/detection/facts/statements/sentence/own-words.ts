import { isDirective, isQuestion } from './mood.ts'

/**
 * Returns a message without what is not said to the assistant: quoted lines, fenced and
 * tagged documents, letters, and what a header such as "My boss wrote:" or "Translate this:"
 * introduces. The rest keeps its order.
 */
export function ownWordsOf(text: string, role: 'system' | 'user'): string {
  if (role === 'system')
    return withoutIntroduced(text.replace(taggedOfSystem, '\n'), (head) => referred.test(head))
  return withoutIntroduced(withoutLetters(withoutMarked(text)), isForeignHead)
}

/** Headers of a system text that show the words of others: "The house style says:". */
const referred =
  /(?<!\p{L})(?<!\b(?:you|answers?|replies|i|we)(?: \p{L}+)? )(?:what (?!you\b|we\b|i\b|each|every|answers?|replies)\p{L}+ (?:must|should|may|have to|need to)(?!\p{L})[^:.]*|(?:^|[.!?] )(?:the |our |marking |grading |acceptance |assessment )*(?:criteria|rubric|checklist|marking scheme)|says|reads|states|demands|(?:(?:were|was|are|is) (?:told|instructed|asked|taught))|for reference|for context|which you (?:explain|enforce|apply|check)|(?:about|explain|enforce|check) [^.:]*(?:code|policy|rules|terms|regulations|guide))\s*$/iu

/** Removes parts that marks separate: lines and blocks in quotes, tagged documents, parts between dashes. */
function withoutMarked(text: string): string {
  return text
    .replace(/^[ \t]*>.*$/gm, '')
    .replace(longQuote, '\n')
    .replace(/("""|''')[\s\S]*?(?:\1|$)/g, '\n')
    .replace(tagged, '\n')
    .replace(/^([-=*_~#])\1{2,}[ \t]*$[\s\S]*?^\1{3,}[ \t]*$/gm, '\n')
}

/** A quotation that is too long for a phrase is the text of another. */
const longQuote =
  /(?<![\p{L}\p{N}])(?:"[^"]{120,4000}"|“[^”]{120,4000}”|„[^“”"]{120,4000}[“”"]|«[^»]{120,4000}»)(?!\p{L})/gu

const document =
  'e-?mails?|messages?|letters?|texts?|contracts?|notes?|reviews?|prompts?|polic(?:y|ies)|articles?|documents?|transcripts?|drafts?|posts?|tickets?|pages?|forms?|clauses?|passages?|essays?|poems?|stor(?:y|ies)|reports?|abstracts?|logs?|snippets?|excerpts?|sections?|cvs?|resumes?|tweets?|comments?|ads?|descriptions?|briefs?|guides?|guidelines|handouts?|assignments?|chats?|conversations?|threads?|quotes?|minutes|newsletters?|press releases?|stories|lyrics|announcements?|memos?|terms|leaflets?|flyers?|scripts?|code|sources?|contexts?|inputs?|examples?|contents?|mails?'
const tagged = new RegExp(`(?<!<)<(${document})\\b[^>\\n]*>[\\s\\S]*?</\\1>`, 'gi')

/** Tagged parts of a system text that are not instructions. */
const taggedOfSystem =
  /<((?:example|sample|document|article|newsletter|press|product|ticket|description|caption|e-?mail|letter|report|transcript|knowledge|faq|context|source|input)[a-z_-]*)>[\s\S]*?<\/\1>/gi

/** Removes letters that are part of a message, from "Hi team," to the line after "Best,". */
function withoutLetters(text: string): string {
  const cut = text.replace(letter, '\n\n')
  return /\p{L}/u.test(cut) ? cut : text
}

const letter =
  /^(?:(?:hi|hello|dear|hey|good (?:morning|afternoon)|hallo|liebe[rs]?|sehr geehrte[rs]?|hola|estimad[oa]s?|bonjour|ch(?:er|ère)s?)(?![\p{L}])[^.?!\n]{0,50}[,!:]?)\s*\n[\s\S]*?^(?:best|kind|warm|many|with|regards|cheers|sincerely|yours|thanks|thank you|love|mit freundlichen|viele|liebe|beste|saludos|atentamente|cordialement|bien à)(?![\p{L}])[^.?!\n]{0,40}(?:\n[^\n.?!]{1,40})?$/gimu

/** Removes what headers introduce, line by line. */
function withoutIntroduced(text: string, isForeign: (head: string) => boolean): string {
  if (!introduces.test(text)) return text
  const lines = text.split('\n')
  const kept: string[] = []
  for (let at = 0; at < lines.length; at++) {
    const { head, rest } = splitHeader(lines[at] ?? '', isForeign)
    kept.push(head)
    if (rest === undefined) continue
    if (/\p{L}/u.test(rest)) kept.push(ownEndOf(rest))
    else at = endOfBlock(lines, at + 1) - 1
  }
  return kept.join('\n')
}

/** A quick test for texts in which nothing is introduced. */
const introduces = /[:：]|\bhere(?:'s| is| are)\b|\bbelow\b/i

/** Splits a line behind a header of another's text; `rest` is undefined without one. */
function splitHeader(
  line: string,
  isForeign: (head: string) => boolean,
): { head: string; rest?: string } {
  for (const { index } of line.matchAll(/[:：](?=\s|$)/g)) {
    const head = line.slice(0, index)
    const sentence = head.split(/[.!?]\s+/).at(-1) ?? head
    if (isForeign(sentence) || isLabel(sentence, line.slice(index + 1)))
      return { head, rest: line.slice(index + 1) }
  }
  const isShown = shown.test(line) && !/[:：]/.test(line) && !ownThings.test(line)
  return isShown ? { head: line, rest: '' } : { head: line }
}

const shown = new RegExp(
  `^(?:[^.!?]{0,30}[,;] )?(?:here(?:'s| is| are| comes)|below (?:is|are)|this is) (?:my|our|the|an?|his|her|their|what)\\b[^.!?]{0,60}\\b(?:${document})\\b`,
  'i',
)
/** Headers of rules for the assistant: "Rules for your answers:". */
const ownThings =
  /(?<!\p{L})(?:your|you|answers?|replies|reply|responses?|this (?:chat|conversation|session)|our (?:chat|conversation)|from now on|please (?:follow|use|stick)|i want|i'd like|as follows|like this|(?:these|this|that|the following|my|some) (?:\p{L}+ )?(?:rules?|limits?|requirements?|constraints?|conditions?|criteria|guidelines|instructions|preferences|points))(?!\p{L})/iu

const works =
  /^(?:(?:please|ok|and|now|then|so|also|can you|could you|would you|pls|i need you to|help me(?: to)?|i want you to)[ ,]+)*(?:translate|proofread|correct|(?:fix|check|improve|edit|polish|review) (?:the|my|our|any|all)? ?(?:\p{L}+ )?(?:grammar|spelling|typos?|punctuation|wording|mistakes?|errors?|style|tone|english|german|french|spanish)|tl;?dr|übersetze?|korrigiere?|traduis|corrige|traduce|翻译|翻訳|(?:summari[sz]e|rate|review|rephrase|reword|rewrite|paraphrase|edit|improve|check|fix|analy[sz]e|classify|explain|comment on|critique|grade|evaluate|read|reply to|respond to|answer|shorten|simplify|polish|convert|compare|verbessere?|lies|resume|résume|总结|要約)(?![\p{L}])(?=.*(?<!\p{L})(?:this|these|that|following|below|attached|it|him|her|them|diese[nrs]?|folgende[nrs]?|est[eao]|siguiente|ce(?:tte)?|suivante?|这|下面|次の|以下)(?!\p{L})))/iu
const reports =
  /(?<!\p{L})(?<!\b(?:i|we)(?:'d| \p{L}+){0,3}? )(?:says?|said|wrote|writes|reads?|states?|asks?|asked|replied|sent|mailed|texted|told|handed|posted|got|received|found|gave|put|demands?|requires?|schrieb|sagt|steht|lautet|dice|escribió|a écrit|dit)(?: (?:(?:to|in|on|at|by|from|for|with) )?(?:me|us|him|her|them|this|it|back|out|today|yesterday|earlier|following|(?:the|my|our|his|her|their) \p{L}+|\p{L}+day))*$/iu
/** "The rules of the contest", "our house style for the newsletter is". */
const ofOthers =
  /(?<!\p{L})(?:rules?|style|guide|guidelines|policy|limits?|requirements?|conditions?|terms|instructions|regeln|reglas|règles)(?: \p{L}+)? (?:of|for|at|in|für|de|pour)(?: the| our| my| their| a| an| this| that)? (?!engagement\b|answers?\b|repl|respon|this\b|our (?:chat|session|talk|conversation|dialogue|game|exchange)|all\b|every|each|now\b|today\b|you\b|the rest|here\b|messages?\b|outputs?\b|conversation|chat|session)\p{L}+/iu
/** Texts that hold rules for others, where the user wants one to be written. */
const ruleTexts =
  /(?<!\p{L})(?:write|draft|make|create|compose|design|give me|prepare|generate|suggest|schreibe?|entwirf)(?!\p{L})[^.;:]{0,60}(?<!\p{L})(?:rules|guides?|guidelines|policy|prompts?|charter|code of conduct|regeln|reglas|règles|instructions)(?!\p{L})/iu
/** "Compare these two rules:", "make this sentence nicer:". */
const judged =
  /^\W*(?:(?:please|can you|could you) )*(?:(?:compare|rate|explain|rephrase|reword|translate|review|discuss|rank|criticise|criticize|improve)(?!\p{L})[^.:]*(?:rules?|instructions?|constraints?|sentences?|slogans?|wordings?|versions)|(?:make|turn|put|change) (?:this|these|it|the following)(?!\p{L})[^.:]*)$/iu
const label = new RegExp(`^\\W*(?:(?:the|original|my) )?(?:${document})\\W*$`, 'i')
const namedText = new RegExp(
  `(?<!\\p{L})(?:here(?:'s| is| are| comes)|this is|below|following|attached|pasted|my|our|the|his|her|their|this|an?)(?: \\p{L}+){0,3} (?:${document})(?: (?:i|we|he|she|they|from|by|of|to|for|below|is|was|about)(?: \\p{L}+){0,5})?$`,
  'iu',
)

/** A label such as "Text:" introduces a text, if it is not short as in "Text: 50 words at most". */
function isLabel(head: string, rest: string): boolean {
  return label.test(head) && (rest.trim() === '' || rest.length > label_rest_min)
}

const label_rest_min = 80

/** Tells whether a header introduces a text that is not the user's own words. */
function isForeignHead(head: string): boolean {
  if ([ofOthers, ruleTexts, judged].some((words) => words.test(head))) return true
  if (ownThings.test(head)) return false
  return works.test(head.trim()) || reports.test(head) || namedText.test(head)
}

/** Returns what a user says behind a text of another on one line: from its last question on. */
function ownEndOf(rest: string): string {
  const parts = rest.split(/(?<=[.!?…"”'])\s+/)
  const from = parts.findIndex((part, at) => at > 0 && part.trim().endsWith('?'))
  return from === -1 ? '' : parts.slice(from).join(' ')
}

/** Returns the line behind a text that starts at a line: its list, or all but a last paragraph. */
function endOfBlock(lines: readonly string[], start: number): number {
  let at = start
  while (at < lines.length && lines[at]?.trim() === '') at++
  if (isItem(lines[at])) {
    while (at < lines.length && (isItem(lines[at]) || lines[at]?.trim() === '')) at++
    return at
  }
  const last = lines.findLastIndex((line, index) => index > at && line.trim() === '')
  const end = lines
    .slice(last + 1)
    .join(' ')
    .trim()
  const isOwn = last > at && (end.includes('?') || isDirective(end) || isQuestion(end))
  return isOwn ? last : lines.length
}

function isItem(line: string | undefined): boolean {
  return /^[\s|]*(?:[-*•]|\d{1,2}[.)])\s/.test(line ?? '')
}
