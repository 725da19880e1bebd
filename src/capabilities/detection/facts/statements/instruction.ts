/** A sentence that may be an instruction. */
export type Instruction = {
  /** The sentence without Markdown emphasis. */
  sentence: string
  /** The sentence without lead words such as "please", "from now on", "you must". */
  body: string
  /** True if it applies to all later answers, not to one. */
  is_lasting: boolean
}

/**
 * Reads a sentence as an instruction; undefined if it depends on a condition that cannot be checked
 * ("if the user asks …"), because such a rule must never cause a finding.
 */
export function readInstruction(sentence: string): Instruction | undefined {
  const plain = sentence.replace(/\*\*|__/g, '')
  if (conditional.test(plain.replace(unconditional, ' '))) return undefined
  return { sentence: plain, body: removeLead(plain), is_lasting: lasting.test(plain) }
}

const conditional =
  /\b(?:if|when|whenever|unless|until|except|before|after|while|where|e\.g|for example|for instance|such as|depending|in case|should (?:the|a|an|you|they)|for (?:each|every) (?:file|item|row|tool|function)|once|first|initially|finally|final|last|done|finish(?:ed)?|complet\w*|optional(?:ly)?|may|might|could|try|prefer(?:ably|red)?|ideally|usually|generally|typically|would)\b/i

/** Phrases that look like conditions but are not. */
const unconditional =
  /\b(?:when(?:ever)? (?:you )?(?:answer|reply|respond|writ|speak|talk)\w*(?: (?:to )?(?:me|us|users?|customers?|the user))?|until (?:further notice|i (?:say|tell)\b.{0,40})|even if\b.{0,80}|no matter (?:if|what|how|which)\b.{0,80}|whatever (?:happens|i say)|(?:may|might|could) not|could you|would you|(?:i(?:'d| would) like)|(?:to )?(?:the|your|my) last|first name|last name)/gi

const lasting =
  /\b(?:always|never|ever|every|each|all|any|throughout|from now on|from here on|from this point|going forward|at all times|at any time|the rest of|the entire|the whole|must|in this (?:chat|conversation|session)|for this (?:chat|conversation|session)|permanently|only|immer|niemals|nie|toujours|jamais|siempre|nunca|ab jetzt|désormais|a partir de ahora)\b/i

const leads = [
  'please',
  'also',
  'and',
  'but',
  'so',
  'ok',
  'okay',
  'now',
  'actually',
  'instead',
  'important',
  'note',
  'remember',
  'rule',
  'reminder',
  'hi',
  'hello',
  'hey',
  'thanks',
  'just',
  'then',
  'always',
  'strictly',
  'from now on',
  'from here on',
  'from this point on',
  'going forward',
  'at all times',
  'one rule',
  'one thing',
  'one more thing',
  'keep in mind',
  'remember to',
  'note that',
  'remember that',
  'you must',
  'you should',
  'you shall',
  'you will',
  'you have to',
  'you need to',
  'you are to',
  'you can only',
  'we',
  "i'd like you to",
  'i would like you to',
  'i want you to',
  'i need you to',
  'can you',
  'could you',
  'would you',
  'will you',
  'make sure to',
  'make sure you',
  'make sure that you',
  'be sure to',
  'be sure you',
  'ensure that you',
  'ensure you',
  'for the rest of this conversation',
  'for the rest of this chat',
  'for the rest of our conversation',
  'for the rest of our chat',
  'for this conversation',
  'in this conversation',
  'in this chat',
  'in every reply',
  'in every answer',
  'in every response',
  'in all replies',
  'in all answers',
  'in all responses',
  'in your answers',
  'in your replies',
  'in your responses',
  'in your answer',
  'in your reply',
  'throughout this conversation',
  'throughout the conversation',
  'when answering',
  'when replying',
  'when responding',
  'when you answer',
  'when you reply',
  'when you respond',
  'whenever you answer',
  'whenever you reply',
].sort((one, other) => other.length - one.length)
const leads_max = 8

function removeLead(sentence: string): string {
  let rest = sentence.trim()
  for (let taken = 0; taken < leads_max; taken++) {
    const low = rest.toLowerCase()
    const lead = leads.find((word) => low.startsWith(word) && !/[\w']/.test(low[word.length] ?? ''))
    if (lead === undefined) return rest
    rest = rest.slice(lead.length).replace(/^[\s,:;–—-]+/, '')
  }
  return rest
}

/** A broken statement: a sentence for readers and a confidence, 0–1. */
export type Breach = { violation: string; confidence: number }
