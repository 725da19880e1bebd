import { Heading } from '../../ui/parts.tsx'

/** PLACEHOLDER */
export function Suppressions() {
  return <Heading title="Suppressions" />
}
