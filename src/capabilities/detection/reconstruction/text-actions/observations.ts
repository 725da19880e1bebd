const head_chars_max = 400
const resultMark =
  /^\s*(?:(?:command |tool |function |action )?(?:output|result|response|returned)|(?:command|tool|function|action) [\w.-]{1,64} (?:returned|result|output|response)|command executed\.?(?:\s*output)?)\s*:[ \t]*\n?/i
const resultTag =
  /^\s*<(result|output|response|stdout|tool_output|tool_response|answer)>([\s\S]*?)(?:<\/\1>\s*)?$/i

/** Removes the words and tags with which a harness begins a result. */
export function stripResultMark(text: string): string {
  const tagged = resultTag.exec(text)?.[2]
  if (tagged !== undefined) return tagged.trim()
  const mark = resultMark.exec(text.slice(0, head_chars_max))
  return mark === null ? text : text.slice(mark[0].length)
}

/** Tells whether a tool of this name asks a person, who answers it. */
export function asksPerson(name: string): boolean {
  return /^ask|clarif|question|follow_?up|(?:^|_)human(?:_|$)|confirm_with/i.test(name)
}

/** Tells whether a tool of this name delivers the answer: what follows is the user's next order. */
export function endsTask(name: string): boolean {
  return /^(?:finish|final|done|stop|answer|conclude|respond|reply|exit|terminate|attempt_completion|end_task|(?:task_?)?completed?)(?:_?(?:task|answer|run))?$/i.test(
    name,
  )
}

const chat_chars_max = 300
const opening =
  /^(?:thanks|thank you|thx|ok(?:ay)?[ ,!]|great|perfect|nice|cool|awesome|hi\b|hello|hey|please|can you|could you|would you|what\b|how\b|why\b|when\b|where\b|which\b|who\b|is (?:it|there|that|this)\b|are (?:you|there|they)\b|and (?:if|what|how|then|the|now)\b|but\b|so\b|yes\b|no,|i \w|i'[a-z]|it worked|that (?:worked|works|did)|works\b|second one|first one|hmm|wait\b|now (?:i|it|the|can|please))/i

const ownWords =
  /\b(?:please|thanks|thank you|cheers|i|i'm|i've|i'd|my|me|we|our|you|your|it (?:says|said|gives|printed|shows|failed)|(?:do|does|did)n't work)\b/i

/** Tells whether a text reads like words of a person: a question, thanks, the next order. */
export function isChat(text: string): boolean {
  const said = text.trim()
  if (said.length > chat_chars_max || said.includes('\n\n')) return false
  return opening.test(said) || /[\p{L})]\?$/u.test(said)
}

const output_chars_max = 4_000
/** Lines that programs print and people do not write. */
const printed = [
  /^\s*$|^\s*\(no output\)\s*$|^<(?:returncode|output|stdout|exit_?code)>/i,
  /^\s*[[{][\s\S]*[\]}]\s*$/,
  /\bexit (?:code|status):? -?\d+|^Traceback \(most recent call last\)|\b\w+(?:Error|Exception): /m,
  /^[^\s:]{0,200}[./][^\s:]{1,200}:(?:\d+:|[ \t])|^\d+:\S|^\d+ \//m,
  /^\S{1,64}(?:[$#%>]) \S|^ +\S[^\n|]*\| |^[#!]{1,2} \S|^ ! \[/m,
  /^[\w.-]{1,64} ?= ?\S+$|\t|^(?:error|fatal|warning): |^\w+: \S+: /im,
  /^\d[\d.,]*$|^[A-Z]+ \d+$|^Failed to \w+ \S+ \S+: |^\d+ (?:passed|failed)\b/m,
]

/** Tells whether a text reads like the output of a program, not like words of a person. */
export function isOutput(text: string): boolean {
  const said = text.slice(0, output_chars_max)
  const isMarked = printed.some((line) => line.test(said))
  return (
    isMarked && !isChat(said) && (said.includes('\n') || !ownWords.test(said) || isLocated(said))
  )
}

/** Tells whether a text behind code that is known to be run can be its output. */
export function canBeOutput(text: string): boolean {
  return isOutput(text) || !(isChat(text) || ownWords.test(text.slice(0, output_chars_max)))
}

/** Tells whether a line begins with its place, as `grep` prints it. */
function isLocated(text: string): boolean {
  return /^(?:[\w./-]{1,200}:)?\d+:/.test(text)
}
