import { isDeepStrictEqual } from 'node:util'
import type { Secret, SecretDraft } from '../../../../platform/kube/index.ts'
import type { DeclaredKey } from '../spec.ts'
import { digestOf, readTemplateNote, type TemplateNote, templateNoteName } from './secret-notes.ts'
import {
  isProtectedName,
  type Placeholder,
  placeholderPattern,
  placeholders,
  type SecretTemplate,
} from './secret-template.ts'

/** Contents of the Secret of one key, besides the labels and notes of the operator. */
export type SecretContents = {
  labels: Readonly<Record<string, string>>
  annotations: Readonly<Record<string, string>>
  data: Readonly<Record<string, string>>
  /** Identifies template and values; undefined without a template. */
  digest: string | undefined
}

/** Renders the contents of the Secret of a declared key, for a key with this id and value. */
export type RenderContents = (
  declared: DeclaredKey,
  key: { id: string; value: string },
) => SecretContents

type SecretValues = Readonly<Record<Placeholder, string>>
/** Values that all keys of an account share. */
export type SharedValues = Omit<SecretValues, 'apiKey' | 'keyId' | 'keyName'>

/** Creates the renderer of an account. Without a template a Secret contains only its key. */
export function createRenderer(
  template: SecretTemplate | undefined,
  shared: SharedValues,
): RenderContents {
  const digest = template && digestOf([template, shared])
  const metadata = (items: readonly { name: string; value: string }[] = []) =>
    Object.fromEntries(
      items.filter(({ name }) => !isProtectedName(name)).map(({ name, value }) => [name, value]),
    )
  const labels = metadata(template?.labels)
  const annotations = metadata(template?.annotations)
  return (declared, { id, value }) => {
    const values = { ...shared, apiKey: value, keyId: id, keyName: declared.name }
    const entries = (template?.entries ?? []).map((entry) => [entry.key, render(entry, values)])
    const data = { ...Object.fromEntries(entries), [declared.secretKey]: value }
    return { labels, annotations, data, digest }
  }
}

function render(
  { format, template = '' }: NonNullable<SecretTemplate['entries']>[number],
  values: SecretValues,
): string {
  if (format !== undefined) return formats[format](values)
  return template.replaceAll(placeholderPattern, (_, name: Placeholder) => values[name])
}

const formats = { dotenv: toDotenv, json: toJson }

/**
 * Formats values as lines that npm's dotenv, python-dotenv and `sh` read alike: in single quotes,
 * where none of them replaces anything. Throws `UnquotableValue` for a value that they read
 * differently.
 */
export function toDotenv(values: SecretValues): string {
  return placeholders.map((name) => `${toVariable(name)}=${quote(values[name])}\n`).join('')
}

/** Formats values as one JSON object. */
export function toJson(values: SecretValues): string {
  const fields = placeholders.map((name) => [name, values[name]])
  return `${JSON.stringify(Object.fromEntries(fields), null, 2)}\n`
}

/** Converts a name such as `apiKey` to `LOOPTRACE_API_KEY`. */
function toVariable(name: Placeholder): string {
  return `LOOPTRACE_${name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`
}

/** A value that parsers of dotenv files read differently. */
export class UnquotableValue extends Error {
  override readonly name = 'UnquotableValue'
}

/** A backslash before the closing quote would quote it for dotenv, and not for `sh`. */
function quote(value: string): string {
  if (!/['\\\p{Cc}]/u.test(value)) return `'${value}'`
  throw new UnquotableValue(
    'a dotenv value contains a single quote, a backslash or a control character, expected none',
  )
}

/**
 * Returns the draft of a Secret with the contents. Labels and annotations of others stay; those that
 * an earlier template set and this one does not are removed.
 */
export function toDraft(
  name: string,
  contents: SecretContents,
  secret: Pick<Secret, 'labels' | 'annotations'> | undefined,
): SecretDraft {
  const before = readTemplateNote(secret?.annotations ?? {})
  const { labels, annotations, data, digest } = contents
  const note: TemplateNote | undefined = digest === undefined ? undefined : noteOf(contents, digest)
  return {
    name,
    labels: { ...without(secret?.labels, before?.labels), ...labels },
    annotations: {
      ...without(secret?.annotations, [...(before?.annotations ?? []), templateNoteName]),
      ...annotations,
      ...(note !== undefined && { [templateNoteName]: JSON.stringify(note) }),
    },
    data,
  }
}

function noteOf({ labels, annotations }: SecretContents, digest: string): TemplateNote {
  return { digest, labels: Object.keys(labels), annotations: Object.keys(annotations) }
}

function without(
  items: Readonly<Record<string, string>> = {},
  names: readonly string[] = [],
): Record<string, string> {
  const gone = new Set(names)
  return Object.fromEntries(Object.entries(items).filter(([name]) => !gone.has(name)))
}

/** Returns how a Secret differs from its contents: by another template, or by drift. */
export function differenceOf(
  secret: Secret,
  contents: SecretContents,
): 'template' | 'drift' | undefined {
  const { labels, annotations, data } = toDraft(secret.name, contents, secret)
  const isSame =
    isDeepStrictEqual(labels, { ...secret.labels }) &&
    isDeepStrictEqual(annotations, { ...secret.annotations }) &&
    isDeepStrictEqual({ ...data }, { ...secret.data })
  if (isSame) return undefined
  const noted = readTemplateNote(secret.annotations)?.digest
  return noted === contents.digest ? 'drift' : 'template'
}
