/** Returns an SVG as a data URI. The library of 57 files is loaded with the first one. */
export async function toQrCode(text: string): Promise<string> {
  const { toString: draw } = await import('qrcode')
  const svg = await draw(text, { type: 'svg', margin: 2 })
  return `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`
}
