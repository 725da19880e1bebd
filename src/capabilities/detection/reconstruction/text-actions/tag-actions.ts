import { jsonText, objectFrom, parsedJson } from '../../../../kernel/json-values.ts'
import { readJsonActions } from './json-actions.ts'
import {
  actions_max,
  isSpeech,
  type TextAction,
  type TextFormat,
  toArguments,
} from './text-action.ts'

/** A tag of an answer that no other tag contains. */
type Tag = { name: string; attributes: string; body: string | undefined }

/** Tags around any call: the tool's name is in them. */
const wrappers: ReadonlySet<string> = new Set(
  'tool tool_call toolcall tool_use function_call function_calls invoke function call action'.split(
    ' ',
  ),
)
const inputTags = /^(?:tool_?|action_?|function_?)?(?:inputs?|args|arguments|parameters?|params)$/i
const nameTags = /^(?:tool_?|function_?)?name$/i
const runners = /^(?:execute|exec|run|use)_/

/** Maximum tags of calls within each other. */
const depth_max = 3

/** The context of a tag. */
type Around = { parts: readonly Tag[]; format: TextFormat | undefined; depth: number }

/** Reads the tools that an answer uses by tags: `<read_file><path>a</path></read_file>`. */
export function readTagActions(
  text: string,
  format: TextFormat | undefined,
  depth = 0,
): TextAction[] {
  if (!text.includes('<') || depth > depth_max) return []
  const tags = findTags(text)
  const actions: TextAction[] = []
  for (let at = 0; at < tags.length && actions.length < actions_max; at++) {
    const tag = tags[at]
    if (tag === undefined || inputTags.test(tag.name)) continue
    if (!isWrapper(tag)) {
      actions.push(...readOwn(tag, format))
      continue
    }
    const end = tags.findIndex((one, index) => index > at && (isWrapper(one) || isSpeech(one.name)))
    const parts = tags.slice(at + 1, end === -1 ? tags.length : end)
    const own = readWrapped(tag, { parts, format, depth })
    actions.push(...own)
    // Tags behind a name are its arguments.
    if (own.length > 0 && nameOnly.test((tag.body ?? '').trim())) at += parts.length
  }
  return actions
}

const runnerName = /^(?:bash|sh|shell|python|sql|terminal|cmd|exec\w*|run_\w+)$/i

/** Reads the tags whose names say that a program runs what is in them: `<bash>ls</bash>`. */
export function readRunnerActions(text: string, format: TextFormat): TextAction[] {
  return readTagActions(text, format).filter(({ name }) => runnerName.test(name))
}

function isWrapper({ name }: Tag): boolean {
  return wrappers.has(name.toLowerCase())
}

/** Reads a tag whose name is the tool's. */
function readOwn(tag: Tag, format: TextFormat | undefined): TextAction[] {
  const [name = '', own] = tag.name.split('=', 2)
  if (own !== undefined) return [toAction(own, tag)]
  if (format === undefined || isSpeech(name)) return []
  const isNamed = format.words.has(name) || runners.test(name)
  if (!isNamed && !name.includes('_') && partsOf((tag.body ?? '').trim()) === undefined) return []
  return [toAction(name, tag)]
}

/** Reads a tag such as `<tool name="x">`, `<tool_call>{…}</tool_call>` or `<tool>x</tool>`. */
function readWrapped(tag: Tag, { parts, format, depth }: Around): TextAction[] {
  const body = (tag.body ?? '').trim()
  const named = attributesOf(tag.attributes)
  const name = ['name', 'tool', 'function']
    .map((key) => named[key])
    .find((one) => one !== undefined)
  if (name !== undefined) {
    const { name: _name, tool: _tool, function: _function, ...others } = named
    return [toAction(name, { ...tag, attributes: '' }, others)]
  }
  if (body[0] === '{' || body[0] === '[') {
    return readJsonActions(body, format)
  }
  const inner = findTags(body)
  if (inner.some(({ name: of }) => nameTags.test(of))) return readParts(inner)
  if (inner.length > 0) {
    return readTagActions(body, format ?? unknownFormat(inner), depth + 1)
  }
  return readNamed(body, parts)
}

/** Reads a tag whose body is the tool's name, as `search` or `search[x]`; tags behind it are its arguments. */
function readNamed(body: string, parts: readonly Tag[]): TextAction[] {
  if (isSpeech(body)) return []
  const [, signed = '', args = ''] = signature.exec(body) ?? []
  if (signed !== '') return [toAction(signed, { name: signed, attributes: '', body: args })]
  if (!nameOnly.test(body)) return []
  const [first] = parts
  const input = first !== undefined && inputTags.test(first.name) ? (first.body ?? '') : ''
  if (parts.length === 0 || input !== '') {
    return [toAction(body, { name: body, attributes: '', body: input })]
  }
  const given = parts.map((part) => [part.name, (part.body ?? '').trim()])
  return [toAction(body, { name: body, attributes: '', body: '' }, Object.fromEntries(given))]
}

const nameOnly = /^[\w.:-]{1,128}$/
const signature = /^([\w.-]{1,64}) ?[[(]([\s\S]*)[\])]$/

/** Reads `<name>x</name><arguments>…</arguments>`. */
function readParts(inner: readonly Tag[]): TextAction[] {
  const name = inner.find((one) => nameTags.test(one.name))?.body?.trim() ?? ''
  const input = inner.find((one) => inputTags.test(one.name))
  return name === '' ? [] : [toAction(name, input ?? { name, attributes: '', body: '' })]
}

/** Within the tag of a call, the name of a tag is the name of a tool. */
function unknownFormat(inner: readonly Tag[]): TextFormat {
  const none = new Set<string>()
  const words = new Set(inner.map(({ name }) => name))
  return {
    dialects: new Set(),
    likely: undefined,
    words,
    verbs: none,
    signatures: none,
    languages: none,
    keys: none,
  }
}

/** The rest of a tag ends at the first bracket, so no text is read twice. */
const tagHead = /<([A-Za-z_][\w.:-]{0,63}(?:=[\w.:-]{1,64})?)(\/|\s[^<>]{0,500})?>/g
const codeSpan = /```[\s\S]*?(?:```|$)|`[^`\n]{1,200}`/g

/** Finds the outer tags of a text, those in code aside. A last tag may lack its end. */
function findTags(text: string): Tag[] {
  const plain = maskCode(text)
  const tags: Tag[] = []
  let from = 0
  for (const { 0: head, 1: name = '', 2: rest = '', index } of plain.matchAll(tagHead)) {
    if (index < from || tags.length >= actions_max) continue
    const start = index + head.length
    const attributes = rest.replace(/\/$/, '')
    if (attributes !== rest) {
      tags.push({ name, attributes, body: undefined })
      from = start
      continue
    }
    const close = `</${name.split('=', 1)[0]}>`
    const end = plain.indexOf(close, start)
    const isCut = end === -1 && !plain.includes('</', start)
    if (end === -1 && !isCut) continue
    tags.push({ name, attributes, body: text.slice(start, end === -1 ? text.length : end) })
    from = end === -1 ? text.length : end + close.length
  }
  return tags
}

/** Replaces code outside of tags by spaces of the same length. */
function maskCode(text: string): string {
  if (!text.includes('`')) return text
  const first = text.search(/^[ \t]*<[A-Za-z_]/m)
  const head = first === -1 ? text : text.slice(0, first)
  return head.replaceAll(codeSpan, (code) => ' '.repeat(code.length)) + text.slice(head.length)
}

const attribute = /([\w:-]{1,64})\s*=\s*(?:"([^"]*)"|'([^']*)')/g

function attributesOf(text: string): Record<string, string> {
  const found = [...text.matchAll(attribute)].slice(0, attributes_max)
  return Object.fromEntries(
    found.map(([, key = '', double, single]) => [key, double ?? single ?? '']),
  )
}

const attributes_max = 32

function toAction(name: string, tag: Tag, more: Record<string, string> = {}): TextAction {
  const given = { ...more, ...attributesOf(tag.attributes) }
  const body = (tag.body ?? '').trim()
  const named = Object.keys(given).length > 0
  if (body === '') return { name, args: named ? jsonText(given) : '{}' }
  const parts = partsOf(body)
  if (parts !== undefined) return { name, args: jsonText({ ...given, ...parts }) }
  const object = body[0] === '{' ? objectFrom(parsedJson(body)) : undefined
  if (named) return { name, args: jsonText({ ...given, ...(object ?? { input: body }) }) }
  return { name, args: toArguments(body) }
}

/** Reads a body that is nothing but tags, such as `<path>a</path>`, as its arguments. */
function partsOf(body: string): Record<string, string> | undefined {
  if (body[0] !== '<') return undefined
  const inner = findTags(body)
  if (inner.length === 0) return undefined
  return Object.fromEntries(
    inner.map((tag) => {
      const [key = '', of] = tag.name.split('=', 2)
      const name = of ?? attributesOf(tag.attributes)['name'] ?? key
      return [name, (tag.body ?? '').trim()]
    }),
  )
}
