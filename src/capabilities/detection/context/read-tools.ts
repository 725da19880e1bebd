import type { Instruction } from './instruction.ts'
import type { Statement } from './ledger.ts'

/** Reads tools that must not be called: "never call delete_file". The value is the tool's name. */
export function readTools({ sentence, body, is_lasting }: Instruction): Statement[] {
  const value = patterns
    .map((pattern) => pattern.exec(body)?.[1])
    .find((name) => name !== undefined)
  if (value === undefined) return []
  const holds = is_lasting ? 'always' : 'turn'
  return [{ kind: 'tool', slot: `tool:${value.toLowerCase()}`, value, holds, quote: sentence }]
}

const not =
  "(?:do not|don't|must not|mustn't|may not|should not|shouldn't|cannot|can't|never|are not allowed to|are never to|avoid)(?: ever)?"
const name = '[`"\'“]?([a-zA-Z][\\w.-]{1,63})[`"\'”]?'

const patterns: readonly RegExp[] = [
  // A name with an underscore, a dot or quotes is meant as a name, not as a word.
  new RegExp(
    `^(?:you )?${not} (?:call|use|run|invoke|calling|using|running|execute) (?:the )?(?:tool |function )?[\`"'“]?([a-zA-Z]\\w*[_.-]\\w+)[\`"'”]?(?: tool| function)?(?: again)?(?=[\\s.,;!]|$)`,
    'i',
  ),
  new RegExp(
    `^(?:you )?${not} (?:call|use|run|invoke|calling|using|running|execute) (?:the )?(?:tool|function) ${name}(?=[\\s.,;!]|$)`,
    'i',
  ),
  new RegExp(
    `^(?:you )?${not} (?:call|use|run|invoke|calling|using|running|execute) (?:the )?${name} (?:tool|function)\\b`,
    'i',
  ),
]
