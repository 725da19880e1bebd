import { type ComponentProps, useState } from 'react'
import { TextField } from '../../ui/fields.tsx'
import { formatPairs } from '../shared/pairs.ts'

type About = Pick<ComponentProps<typeof TextField>, 'label' | 'hint' | 'fault' | 'placeholder'>

/**
 * A list of words with commas. What is typed stays as it is until the field is left, so that a comma
 * at the end is not lost.
 */
export function ListField({
  value,
  onChange,
  ...about
}: About & { value: readonly string[]; onChange: (value: string[]) => void }) {
  const [typed, setTyped] = useState<string>()
  return (
    <TextField
      {...about}
      value={typed ?? value.join(', ')}
      onChange={(event) => {
        setTyped(event.target.value)
        onChange(splitWords(event.target.value))
      }}
      onBlur={() => setTyped(undefined)}
    />
  )
}

/** Names with values, as `team=payments, tier=1`. */
export function PairsField({
  value,
  onChange,
  ...about
}: About & { value: Readonly<Record<string, string>>; onChange: (text: string) => void }) {
  const [typed, setTyped] = useState<string>()
  return (
    <TextField
      {...about}
      value={typed ?? formatPairs(value)}
      onChange={(event) => {
        setTyped(event.target.value)
        onChange(event.target.value)
      }}
      onBlur={() => setTyped(undefined)}
    />
  )
}

/** A number. An unfinished text such as `0.` stays until the field is left. */
export function NumberField({
  value,
  onChange,
  ...about
}: About & { value: number | string | undefined; onChange: (value: number | undefined) => void }) {
  const [typed, setTyped] = useState<string>()
  return (
    <TextField
      {...about}
      inputMode="decimal"
      value={typed ?? String(value ?? '')}
      onChange={(event) => {
        const text = event.target.value
        setTyped(text)
        const number = Number(text)
        onChange(text.trim() === '' || Number.isNaN(number) ? undefined : number)
      }}
      onBlur={() => setTyped(undefined)}
    />
  )
}

function splitWords(text: string): string[] {
  return text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '')
}
