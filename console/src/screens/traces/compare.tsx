import { Heading } from '../../ui/parts.tsx'

/** PLACEHOLDER */
export function Compare() {
  return <Heading title="Compare" />
}
