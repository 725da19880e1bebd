import { actions_max, type TextAction, type TextFormat, toArguments } from './text-action.ts'

/** Verbs of agents that use a page, click by click. */
export const pageVerbs: ReadonlySet<string> = new Set(
  (
    'click double_click right_click type fill input enter press key hover scroll scroll_up scroll_down ' +
    'goto go_to go_back go_forward back forward open navigate visit refresh reload wait new_tab ' +
    'tab_focus switch_tab close_tab close_page select select_option check uncheck focus drag ' +
    'drag_and_drop clear upload_file tap swipe long_press find search next prev previous submit stop ' +
    'done finish answer exit noop send_msg_to_user report_infeasible note ask_user terminate'
  ).split(' '),
)

const line =
  /^(?:[>$] +)?[`*]{0,3}([A-Za-z][\w.]{0,31})(?:(?=[[(<])|[ \t:]+|$)[ \t]*([\s\S]*?)[`*]{0,3};?$/

/** Reads the actions at the end of an answer, one on each line: `click [12]`, `CLICK 3`. */
export function readPageActions(text: string, format: TextFormat): TextAction[] {
  const actions: TextAction[] = []
  const rows = withoutFences(text).split('\n')
  for (let at = rows.length - 1; at >= 0 && actions.length < actions_max; at--) {
    const row = (rows[at] ?? '').trim().replace(label, '')
    if (row === '') continue
    const action = readRow(row, { format, isAlone: rows.length === 1 })
    if (action === undefined) break
    actions.unshift(action)
  }
  return actions.length > 0 ? actions : readLongAction(text.trim(), format)
}

/** Removes the fences around an action: a block, or three marks within a sentence. */
function withoutFences(text: string): string {
  const inner = /```(?:\w{0,12}\n)?([^`]{1,2000})```\s*[.!]?\s*$/.exec(text.trimEnd())?.[1]
  return (inner ?? text).trimEnd()
}

const label = /^(?:next )?action[ ]?:\s*/i

function readRow(
  row: string,
  { format, isAlone }: { format: TextFormat; isAlone: boolean },
): TextAction | undefined {
  const [, name = '', rest = ''] = line.exec(row) ?? []
  if (name === '') return undefined
  const isShort = isAlone && row.length <= short_chars_max && !/[.!?,]/.test(row)
  const isOwn = isShort && format.verbs.has(name.toLowerCase())
  if (!isOwn && !isVerb(name, rest.trim(), format)) return undefined
  return { name, args: toArguments(rest) }
}

/** An answer of a few words is the action, however it is written. */
const short_chars_max = 60
/** Verbs that end the task with an answer of any length. */
const endings: ReadonlySet<string> = new Set(['answer', 'stop', 'done', 'finish', 'exit'])

/** An argument that no sentence begins with. */
const plainArgument = /^$|^[[("'<{#]|^\d/

function isVerb(given: string, rest: string, { verbs }: TextFormat): boolean {
  const name = given.slice(given.lastIndexOf('.') + 1)
  if (verbs.has(name)) return endings.has(name) || isArgument(name, rest)
  return verbs.has(name.toLowerCase()) && plainArgument.test(rest)
}

/** A word such as `back` or `next` also begins sentences. */
function isArgument(name: string, rest: string): boolean {
  if (plainArgument.test(rest) || name === name.toUpperCase()) return true
  return /^[a-z]/.test(name) && rest.length <= argument_chars_max && !/[.!?] [A-Z]/.test(rest)
}

const argument_chars_max = 200

/** Reads an answer whose action has several lines in brackets or quotes. */
function readLongAction(text: string, format: TextFormat): TextAction[] {
  const found =
    /(?:^|\n)([A-Za-z]\w{0,31}) ?(\[[\s\S]{1,8000}\]|"[\s\S]{1,8000}"|\([\s\S]{1,8000}\))$/.exec(
      text,
    )
  const [, name = '', rest = ''] = found ?? []
  if (name === '' || !isVerb(name, rest, format)) return []
  return [{ name, args: toArguments(rest) }]
}
