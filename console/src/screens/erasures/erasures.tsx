import { Heading } from '../../ui/parts.tsx'

/** PLACEHOLDER */
export function Erasures() {
  return <Heading title="Erasures" />
}
