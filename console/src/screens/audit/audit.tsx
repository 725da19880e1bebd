import { Heading } from '../../ui/parts.tsx'

/** PLACEHOLDER */
export function Audit() {
  return <Heading title="Audit" />
}
