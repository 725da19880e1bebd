/**
 * Reads from instructions whether a harness runs what the agent writes. Without one, a block, a tag or
 * an object of JSON is an output for a reader, and the next message in the user's name is a person's.
 */

/** Words that say that results come back to the agent, or that its blocks are run. */
const returning = [
  /\b(?:outputs?|results?|observations?|stdout|environment's answer|reply)\b[^.\n]{0,30}\b(?:follows?|comes?|arrives?|appears?|returned|sent|given back|shown)\b(?! (?:(?:the|this|these|an?|our|your)\b|(?:to|in|by|on) (?!you\b|the next|an? |(?:user )?message)\w))/i,
  /\byou(?:'ll| will)? (?:then )?(?:see|get|receive|read)\b[^.\n]{0,30}\b(?:outputs?|results?|observations?|screen|stdout)\b/i,
  /\bread the (?:reply|output|result)\b|\b(?:pastes?|sends?|replies|reports?) (?:it |them )?back\b|\bI(?:'ll| will) (?:run|execute|paste|reply with the (?:output|result))\b/i,
  /\b(?:is|are|gets?|be) (?:then )?(?:run|executed|evaluated)\b(?! by (?:the |our |an? )?(?:users?|engineers?|people|humans?|persons?|customers?|them)\b)/i,
  /\b(?:blocks?|cells?|fences?) (?:run|runs|execute)\b|\byou (?:may|can) (?:run|execute)\b|\bwhen you want to run\b/i,
  /\bact(?:ion)?s?\b[^\n]{0,40}\bobservation\b|\bobservation:|\baktion\b[^\n]{0,40}\bbeobachtung\b|\bacción\b[^\n]{0,40}\bobservación\b/i,
]

/** Tells whether instructions say that what the agent writes is run and its result comes back. */
export function returnsResults(text: string): boolean {
  return returning.some((words) => words.test(text))
}

const listHead =
  /\b(tools?(?: tags)?|functions|fns|commands|actions|verbs|ops|operations|moves)\b(?: are| available)?[^:\n.>[{]{0,40}(?:[:>]|\n)([^\n]{0,600}(?:\n[ \t]*(?:[-*•]|\d+[.)]|[\w.]+ ?[[(:]|<)[^\n]{0,300}){0,40})/gi
/** A tool's name, with arguments, a tag or a description or without. */
const listed =
  /^[\s`"'*•\-\d.)[]*<?\/?[A-Za-z_]\w{1,40}[`"'*\]]*(?:\s*[[({<>/:—–-].*|)[.`"'*\]})]*$/
const withArguments = /[A-Za-z_]\w*\s*[[(<>/]|_/

/** Tells whether instructions list two tools by name; names of actions alone are the choices of a router. */
export function listsTools(text: string): boolean {
  for (const [, kind = '', list = ''] of text.matchAll(listHead)) {
    const items = list
      .split(/[,;|\n]|<\/\w+>|\)\s|\]\s|\/(?=[a-z_])/)
      .filter((item) => item.length <= item_chars_max && listed.test(item.trim()))
    const isOwn = /^(?:tool|function|fn|command)/i.test(kind)
    const named = isOwn ? items : items.filter((item) => withArguments.test(item))
    if (named.length > 1) return true
  }
  return false
}

const item_chars_max = 200

const callShape =
  /["'“](?:tool|function|fn|tool_name)["'”]\s*:[^\n]{0,80}["'“](?:args|arguments|input|parameters|params|tool_input)["'”]\s*:/i

/** Tells whether instructions show the call of a tool in JSON: its name and its arguments. */
export function showsCall(text: string): boolean {
  return callShape.test(text)
}

const toolTags =
  /<(?:tool|tool_call|tool_use|function|function_calls?|invoke)[ =>]|\btools?\b[^.\n]{0,20}\b(?:tags?|xml)\b|\bxml\b[^.\n]{0,40}\btools?\b/i
const runnerTag = /<(?:bash|sh|shell|python|sql|terminal|cmd|exec\w*|run_\w+)[ >]/i
const toRun = /\bto (?:run|execute)\b/i

/** Tells whether instructions name tags of tools. */
export function tagsTools(text: string): boolean {
  return toolTags.test(text) || (runsTags(text) && toRun.test(text) && !helpsPeople(text))
}

/** Tells whether instructions name a tag whose name says that a program runs what is in it. */
export function runsTags(text: string): boolean {
  return runnerTag.test(text)
}

const pageAgent =
  /\b(?:web|browser|browsing|page|gui|ui|computer|phone|mobile|app|form|navigation)[ -]?(?:agent|bot|robot|operator|automation)\b|\byou (?:click|browse|navigate|fill|operate|control|drive|surf)\b|\b(?:click|type|press|tap|goto|select)\b ?(?:\[|<|N\b)/i

/** Tells whether instructions are those of an agent that uses pages. */
export function usesPages(text: string): boolean {
  return pageAgent.test(text)
}

/** Words for which commands are an answer to a person. */
const helping =
  /\b(?:you|assistant that) helps? (?:\w+ )?(?:engineers?|users?|people|customers?|students?|developers?|admins?|analysts?|colleagues|teams?|us|them)\b/i

/** Tells whether the agent writes commands for people. */
export function helpsPeople(text: string): boolean {
  return helping.test(text)
}
