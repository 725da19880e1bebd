import { Heading } from '../../ui/parts.tsx'

/** PLACEHOLDER */
export function Findings() {
  return <Heading title="Findings" />
}
