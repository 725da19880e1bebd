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

/** Tells whether a text reads like words of a person: a question, thanks, the next order. */
export function isChat(text: string): boolean {
  const said = text.trim()
  if (said.length > chat_chars_max || said.includes('\n\n')) return false
  return opening.test(said) || /[a-z)]\?$/i.test(said)
}

/** Tells whether a text reads like the output of a program, not like words of a person. */
export function isOutput(text: string): boolean {
  return !isChat(text) && /[=:{}[\]|/\\<>$#_\d(]|\n|^\s*$/.test(text)
}
