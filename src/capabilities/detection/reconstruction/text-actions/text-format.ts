import { isRunnable } from './code-actions.ts'
import { pageVerbs } from './page-actions.ts'
import type { Dialect, TextFormat } from './text-action.ts'
import {
  helpsPeople,
  listsTools,
  returnsResults,
  runsTags,
  showsCall,
  tagsTools,
  usesPages,
} from './text-harness.ts'

/** Maximum characters read of instructions. */
const chars_max = 32_768

/**
 * Roles that show commands instead of running them; only observations with marks say otherwise.
 */
const explaining =
  /\b(?:tutor|teacher|instructor|lecturer|trainer|technical writer|help desk writer|docs writer|documentation writer|explainer)\b|\byou (?:only )?(?:explain|teach|tutor|document)\b|\b(?:you )?(?:do not|don't|cannot|can't|can not|never) (?:browse\b|run (?:anything|code|commands?|them|it)\b|execute (?:anything|code|commands?|them|it)\b|have (?:any )?(?:tools|a shell|a terminal|access))|\bno tools\b|\b(?:so that |for )?(?:the )?(?:users?|people|they|students?) (?:can |may |will |to )?(?:copy|paste|run)\b/i
const labelling = /\b(?:classif|categori[sz]|extract|label(?:s|ling)?\b|annotat|translat)/i
const labels =
  /(?<!\bto )\baction(?: ?input)?\b[ *_]{0,3}[:/,|>→+]|\bthoughts?\b[^\n]{0,24}\b(?:act(?:ion)?s?|tool)\b|\btool: |\b(?:aktion|acción)\b[:,/ ]|\bre-?act (?:agent|loop|style|format)\b|(?<!\bto )\bact(?:ion)?:\s|\baction input\b/i
const tags = /\bxml\b|\btags?\b|<\/?[A-Za-z_][\w-]*[^<>\n]{0,200}>|<[a-z_]+>…/i
const taggedTools =
  /\b(?:tools?|functions?|commands?|invoke|actions?(?! items?\b))\b|<(?:bash|sh|shell|python|sql|terminal|cmd|run|exec\w*|execute\w*|run_\w+)[ >]/i
const json = /\bjson\b|\{\s*\\?["'“]?\w+\\?["'”]?\s*:/i
const jsonTools =
  /\b(?:tools?|commands?|functions?|fns?|emit|dispatch\w*|function calls?)\b|["'“](?:tool|command|function|fn|action|run|cmd|call)["'”]/i
const page =
  /\b(?:web|browser|browsing|page|gui|ui|computer|phone|mobile|app|form|navigation)[ -]?(?:agent|bot|robot|operator|automation)\b|\b(?:actions?|verbs?|ops|operations|commands?)\b|\byou (?:click|browse|navigate|fill|operate|control|drive|surf)\b/i
const paging =
  /\b(?:brows\w*|web\w*|pages?|sites?|tabs?|screens?|apps?|phone|forms?|accessib\w*|elements?|click\w*|gui|dom|urls?)\b/i
const fenceWords = /\b(?:fence[sd]?|code blocks?|blocks?|cells?|backticks)\b|```/i

const named =
  /```([a-z][\w+-]{0,20})|\b([a-z][\w+]{0,15})[ -](?:code[ -])?(?:fenced? |code )?(?:fence|block|cell)s?\b|\bfenced ([a-z]\w{0,15}) block|\binfo string [`'"]?([\w+-]{1,20})/gi
const signature = /(?<![\w.])([A-Za-z_]\w{0,40})\[[^\]\n]{0,80}\]/g
const quotedKey = /[{,]\s*\\?["'“]?([A-Za-z_]\w{0,40})\\?["'”]?\s*:/g
const verbList =
  /\b(?:actions?|verbs?|ops|operations|commands?|moves?|actions? (?:are|available))\b(?: are| available)?[^:\n.]{0,40}:[ \t]*([^\n]{1,600})/gi
const word = /[A-Za-z_][\w-]*/g

const none: ReadonlySet<string> = new Set()
/** The format of instructions that ask for no actions in texts. */
export const noFormat: TextFormat = {
  dialects: new Set<Dialect>(),
  likely: undefined,
  words: none,
  verbs: none,
  signatures: none,
  languages: none,
  keys: none,
}

const telling =
  /\byou (?:can|may|have|must|will|are|should)\b|\byour (?:answer|reply|response|message|next|task)\b|\b(?:each|every|per|one) (?:answer|reply|message|turn|step)\b|\b(?:respond|reply|answer) (?:only )?(?:with|by|in|using)\b|\binterleav|\bi(?:'ll| will) (?:run|execute|paste|send|reply)\b/i
const toolWords = /\b(?:tools?|act(?:ion)?s?|commands?|blocks?|fences?|tags?|json)\b/i
const answering =
  /\b(?:observations?|outputs?|next message|pastes?|executed?|i(?:'ll| will)? (?:run|send|execute|paste|reply)|run (?:it|them|things)|results?)\b/i

/** Tells whether the first message of a history without a system text instructs an agent. */
export function isInstruction(text: string): boolean {
  const head = text.slice(0, chars_max)
  return telling.test(head) && toolWords.test(head) && answering.test(head)
}

/** Reads from an agent's instructions how it writes its actions. */
export function readTextFormat(instructions: string): TextFormat {
  const text = instructions.slice(0, chars_max)
  if (explaining.test(text)) return noFormat
  const words = new Set(text.match(word) ?? [])
  const verbs = findVerbs(text, words)
  const signatures = collect(text, signature)
  const languages = findLanguages(text)
  const dialects = findDialects(text, { verbs, signatures })
  const isHinted = languages.size > 0 || runsTags(text)
  const likely = dialects.size === 0 && isHinted && !helpsPeople(text) ? 'code' : undefined
  return { dialects, likely, words, verbs, signatures, languages, keys: collect(text, quotedKey) }
}

/** Finds the dialects of instructions with signs of a harness: without one nothing is run. */
function findDialects(
  text: string,
  { verbs, signatures }: Pick<TextFormat, 'verbs' | 'signatures'>,
): Set<Dialect> {
  const isReturned = returnsResults(text)
  const isHarness = isReturned || listsTools(text) || signatures.size > 1
  const isLabelled = labels.test(text) && (isHarness || signatures.size > 0)
  const isPage = page.test(text) && paging.test(text) && usesPages(text)
  const isJson = json.test(text) && jsonTools.test(text) && !labelling.test(text)
  const isTagged = tags.test(text) && taggedTools.test(text)
  const asked: Readonly<Record<Dialect, boolean>> = {
    labels: isLabelled || signatures.size > 1,
    tags: isTagged && (isHarness || tagsTools(text)),
    json: isJson && (isHarness || showsCall(text)),
    code: isReturned && fenceWords.test(text),
    page: isPage && verbs.size > 1,
  }
  return new Set(everyDialect.filter((dialect) => asked[dialect]))
}

const everyDialect: readonly Dialect[] = ['labels', 'tags', 'json', 'code', 'page']

/** Finds the languages of the blocks that run. */
function findLanguages(text: string): Set<string> {
  const found = new Set<string>()
  for (const [, ...groups] of text.matchAll(named)) {
    const name = groups.find((one) => one !== undefined)?.toLowerCase() ?? ''
    if (isRunnable(name)) found.add(name)
  }
  return found
}

function findVerbs(text: string, words: ReadonlySet<string>): Set<string> {
  const verbs = new Set<string>()
  for (const one of words) if (pageVerbs.has(one.toLowerCase())) verbs.add(one)
  for (const [, list = ''] of text.matchAll(verbList)) {
    for (const item of list.split(/[,;/|]| and | or /)) {
      const [verb] = item.match(/^[\s`*<-]*([A-Za-z_]\w{1,31})/)?.slice(1) ?? []
      if (verb !== undefined && item.length <= item_chars_max) verbs.add(verb)
    }
  }
  return verbs
}

const item_chars_max = 80

function collect(text: string, pattern: RegExp): Set<string> {
  const found = new Set<string>()
  for (const [, name = ''] of text.matchAll(pattern)) found.add(name)
  return found
}
