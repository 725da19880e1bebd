import { type ComponentProps, type ReactNode, useId } from 'react'
import type { Fault } from '../api/problem.ts'
import css from './ui.module.css'

/** The texts of a field: its name, a hint under it, and the fault that the API found in it. */
type About = { label: string; hint?: ReactNode; fault?: string | undefined }

type Control = { id: string; 'aria-describedby'?: string; 'aria-invalid'?: true }

function Field({
  label,
  hint,
  fault,
  children,
}: About & { children: (control: Control) => ReactNode }) {
  const id = useId()
  const about = hint !== undefined || fault !== undefined ? `${id}-about` : undefined
  const control: Control = {
    id,
    ...(about !== undefined && { 'aria-describedby': about }),
    ...(fault !== undefined && { 'aria-invalid': true }),
  }
  return (
    <div className={css.field}>
      <label htmlFor={id}>{label}</label>
      {children(control)}
      {about !== undefined && (
        <div id={about}>
          {fault !== undefined && <p className={css.fault}>{fault}</p>}
          {hint !== undefined && <p className={css.soft}>{hint}</p>}
        </div>
      )}
    </div>
  )
}

/** A line of text. */
export function TextField({ label, hint, fault, ...input }: About & ComponentProps<'input'>) {
  return (
    <Field label={label} hint={hint} fault={fault}>
      {(control) => <input type="text" {...input} {...control} />}
    </Field>
  )
}

/** A text of several lines. */
export function AreaField({ label, hint, fault, ...area }: About & ComponentProps<'textarea'>) {
  return (
    <Field label={label} hint={hint} fault={fault}>
      {(control) => <textarea rows={6} {...area} {...control} />}
    </Field>
  )
}

/** A choice of a few values: pairs of the value and what people read. */
export function SelectField({
  label,
  hint,
  fault,
  options,
  ...select
}: About & ComponentProps<'select'> & { options: readonly (readonly [string, string])[] }) {
  return (
    <Field label={label} hint={hint} fault={fault}>
      {(control) => (
        <select {...select} {...control}>
          {options.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

/** A yes or no. */
export function CheckField({ label, ...input }: { label: string } & ComponentProps<'input'>) {
  return (
    <label className={css.check}>
      <input type="checkbox" {...input} />
      <span>{label}</span>
    </label>
  )
}

/** Returns the message for a field, such as `/matchers/0/field`, or for a part of it. */
export function faultAt(faults: readonly Fault[] | undefined, pointer: string): string | undefined {
  return faults?.find((each) => each.pointer === pointer || each.pointer.startsWith(`${pointer}/`))
    ?.detail
}

/** A choice of a filter. */
export function Choice({
  label,
  value,
  choices,
  onChoose,
}: {
  label: string
  value: string
  choices: readonly (readonly [string, string])[]
  onChoose: (value: string) => void
}) {
  return (
    <select aria-label={label} value={value} onChange={(event) => onChoose(event.target.value)}>
      {choices.map(([each, text]) => (
        <option key={each} value={each}>
          {text}
        </option>
      ))}
    </select>
  )
}
