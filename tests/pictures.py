"""What a screenshot shows."""

import base64


def red_share(page, png):
    """Share of pixels in [0, 1] that are red, the colour that tests give to a marked text fragment; `page` is any page of
    a browser, which reads the picture."""
    return page.evaluate(
        """async (data) => {
          const image = new Image(); image.src = 'data:image/png;base64,' + data; await image.decode();
          const canvas = new OffscreenCanvas(image.width, image.height);
          const pen = canvas.getContext('2d'); pen.drawImage(image, 0, 0);
          const pixels = pen.getImageData(0, 0, image.width, image.height).data;
          let red = 0;
          for (let i = 0; i < pixels.length; i += 4) red += pixels[i] > 240 && pixels[i + 1] < 20 && pixels[i + 2] < 20;
          return red / (pixels.length / 4);
        }""",
        base64.b64encode(png).decode(),
    )
