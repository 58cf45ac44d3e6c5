import { type Finding, judge } from './finding.ts'

const gigabyte = 1_000_000_000

/** `wantedBytes` is at least a gigabyte. */
export function checkSpace(
  id: string,
  { folder, freeBytes, wantedBytes }: { folder: string; freeBytes: number | undefined; wantedBytes: number },
): Finding {
  if (freeBytes === undefined) return { id, status: 'ok', text: `the disk of ${folder} does not tell` }
  const wanted = Math.max(gigabyte, wantedBytes)
  const free = `${Math.floor(freeBytes / 1_000_000)} MB are free on the disk of ${folder}`
  const advice = `${free}: make room, at least ${Math.ceil(wanted / 1_000_000)} MB`
  return judge(id, {
    isFine: freeBytes >= wanted,
    fine: free,
    otherwise: [freeBytes < gigabyte / 10 ? 'problem' : 'warning', advice],
  })
}
