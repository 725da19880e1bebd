import type { TurnText } from '../../../api/schema.gen.d.ts'
import { formatCount } from '../../../ui/format.ts'
import { Json } from '../../../ui/json.tsx'
import { LongText } from '../../../ui/text.tsx'
import ui from '../../../ui/ui.module.css'

/** A recorded text, as a tree if it is JSON. Says when the API cut it. */
export function Content({ of: { text, cut, characters } }: { of: TurnText }) {
  const value = cut ? undefined : parseTree(text)
  return (
    <>
      {value === undefined ? <LongText text={text} mono /> : <Json value={value} open={2} />}
      {cut && (
        <p className={ui.soft}>
          Cut: {formatCount(text.length)} of {formatCount(characters)} characters are shown.
        </p>
      )}
    </>
  )
}

function parseTree(text: string): object | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

const beginning_max = 150

/** Returns the beginning of a text as one line. */
export function beginning(text: string): string {
  const line = text.slice(0, beginning_max).replaceAll(/\s+/g, ' ')
  return text.length > beginning_max ? `${line}…` : line
}
