import css from './content.module.css'
import { Copy } from './copy.tsx'
import { formatCount } from './format.ts'
import { Json } from './json.tsx'
import { LongText } from './text.tsx'

/**
 * A recorded input or output: JSON as a tree, everything else as text. Nothing is shown for an
 * empty one.
 */
export function Content({ title, value }: { title: string; value: unknown }) {
  if (value === null || value === undefined || value === '') return null
  if (typeof value === 'object' && Object.keys(value).length === 0) return null
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
  const parsed = typeof value === 'string' ? parseJson(value) : value
  return (
    <section className={css.content}>
      <div className={css.head}>
        <h3>{title}</h3>
        <span className={css.size}>{formatCount(text.length)} characters</span>
        <Copy small text={() => text}>
          Copy
        </Copy>
      </div>
      {typeof parsed === 'object' && parsed !== null ? (
        <Json value={parsed} open={2} />
      ) : (
        <LongText text={text} />
      )}
    </section>
  )
}

/** Parses a text that looks like a JSON object or list; undefined for all others. */
export function parseJson(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
