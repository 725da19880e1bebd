import type { TurnText } from '../../../api/schema.gen.d.ts'
import { parseJson } from '../../../ui/content.tsx'
import { formatCount } from '../../../ui/format.ts'
import { Json } from '../../../ui/json.tsx'
import { LongText } from '../../../ui/text.tsx'
import ui from '../../../ui/ui.module.css'

/** A recorded text, as a tree if it is JSON. Says when the API cut it. */
export function Content({ of: { text, cut, characters } }: { of: TurnText }) {
  const value = cut ? undefined : parseJson(text)
  return (
    <>
      {typeof value === 'object' && value !== null ? (
        <Json value={value} open={2} />
      ) : (
        <LongText text={text} mono />
      )}
      {cut && (
        <p className={ui.soft}>
          Cut: {formatCount(text.length)} of {formatCount(characters)} characters are shown.
        </p>
      )}
    </>
  )
}

const beginning_max = 150

/** Returns the beginning of a text as one line. */
export function beginning(text: string): string {
  const line = text.slice(0, beginning_max).replaceAll(/\s+/g, ' ')
  return text.length > beginning_max ? `${line}…` : line
}
