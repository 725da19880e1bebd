import { jsonText } from '../../../../kernel/json-values.ts'
import { actions_max, type TextAction, type TextFormat } from './text-action.ts'

const shells: ReadonlySet<string> = new Set(
  'bash sh shell zsh console terminal cmd powershell fish ksh'.split(' '),
)
/** Languages of blocks that agents run when their instructions name none. */
const runnable: ReadonlySet<string> = new Set([
  ...shells,
  ...'python py ipython javascript js node ts typescript sql psql r ruby run exec execute'.split(
    ' ',
  ),
  ...'command tool_code keys'.split(' '),
])

/** Tells whether a code block of this language has commands of a shell. */
function isShellLanguage(language: string): boolean {
  return shells.has(language.toLowerCase())
}

/** Tells whether a word is a language of code that agents run. */
export function isRunnable(language: string): boolean {
  return runnable.has(language.toLowerCase())
}

const block = /^[ \t]*```([\w+.-]{0,24})[^\n`]{0,64}\n([\s\S]*?)(?:^[ \t]*```[ \t]*$|(?![\s\S]))/gm
/** Maximum characters after the last block of an answer that acts. */
const tail_chars_max = 240
/** Words with which an answer gives commands to a person. */
const advice =
  /\b(?:you can|you could|you may|you should|you'd|to (?:run|start|use|try) (?:it|this)|usage|for example|e\.g\.)\b/i

/** Reads the code blocks of an answer that its agent runs. */
export function readCodeActions(text: string, format: TextFormat | undefined): TextAction[] {
  if (!text.includes('```')) return []
  const blocks = [...text.matchAll(block)].slice(0, actions_max)
  const last = blocks.at(-1)
  if (last === undefined) return []
  const tail = text.slice(last.index + last[0].length).trim()
  if (tail.length > tail_chars_max) return []
  const run = blocks.filter(([, language = '']) => runs(language, format, blocks.length))
  const before = text.slice(0, run[0]?.index ?? 0)
  if (tail !== '' && advice.test(`${before.slice(-advice_chars)} ${tail}`)) return []
  return run.flatMap(([, language = '', code = '']) => {
    if (code.trim() === '') return []
    const key = isShellLanguage(language) ? 'command' : 'code'
    return [{ name: language || 'code', args: jsonText({ [key]: code.trim() }) }]
  })
}

const advice_chars = 200

function runs(language: string, format: TextFormat | undefined, blocks: number): boolean {
  const name = language.toLowerCase()
  const languages = format?.languages
  if (languages === undefined || languages.size === 0) {
    return name === '' ? blocks === 1 : runnable.has(name)
  }
  if (languages.has(name)) return true
  if (name === '') return blocks === 1
  return shells.has(name) && [...languages].some((one) => shells.has(one))
}
