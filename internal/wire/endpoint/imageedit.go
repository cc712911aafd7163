package endpoint

import (
	"strings"
)

// imageEdit is the OpenAI API that changes an image; its bodies are forms.
type imageEdit struct {
	documents
	reserved once
}

func newImageEdit(d Descriptor, o Options) Endpoint {
	return &imageEdit{reserved: once{warn: o.Warn},
		documents: newDocuments(d, o, func() documentReader { return imageReader{} })}
}

// Encode sends the current turn alone: its first text and its first image.
func (e *imageEdit) Encode(c *Context) (*Body, error) {
	turn := c.current()
	if turn == nil || len(turn.Texts) == 0 || len(turn.Texts[0].Contents) == 0 {
		return nil, valueError("Image edit requires a text prompt.")
	}
	images := filled(turn.Images)
	if len(images) == 0 {
		return nil, valueError("Image edit requires an image.")
	}
	f := newForm(e.over.with(turn.Extra).withoutReserved(&e.reserved, "prompt", "image", "url", "mask"))
	f.text("prompt", turn.Texts[0].Contents[0])
	f.text("model", modelOf(turn.Model, e.options.Model))
	f.text("response_format", "b64_json")
	f.field("n", []byte("1"))
	if isWebAddress(images[0]) {
		f.text("url", images[0])
	} else {
		file, err := imageFile(images[0])
		if err != nil {
			return nil, err
		}
		if err := f.file("image", file); err != nil {
			return nil, err
		}
	}
	body := f.finish()
	body.images = 1
	return body, nil
}

func isWebAddress(s string) bool {
	return strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://")
}

// imageFile makes a file of a data URI or of bare base64, whose first characters identify the format.
func imageFile(content string) (formFile, error) {
	media, data, ok := splitDataURI(content)
	if !ok {
		data = content
	}
	if !strings.HasPrefix(media, "image/") {
		media = ""
		for _, known := range [...]struct{ prefix, media string }{
			{"iVBORw0KGgo", "image/png"}, {"/9j/", "image/jpeg"}, {"R0lGOD", "image/gif"}, {"UklGR", "image/webp"},
			{"Qk", "image/bmp"},
		} {
			if strings.HasPrefix(data, known.prefix) {
				media = known.media
				break
			}
		}
		if media == "" {
			return formFile{}, valueError("The format of the image is unknown: want a data URI, or base64 of a " +
				"PNG, JPEG, GIF, WebP or BMP file.")
		}
	}
	extension := strings.TrimPrefix(media, "image/")
	if extension == "jpeg" {
		extension = "jpg"
	}
	return formFile{"image." + extension, media, data}, nil
}
