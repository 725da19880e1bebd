import { Heading } from '../../ui/parts.tsx'

/** PLACEHOLDER */
export function Incidents() {
  return <Heading title="Incidents" />
}
